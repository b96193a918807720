"""Layout energies of Penrose diagrams as programs of `rosejit`, beside npm `rose` and generated C."""
