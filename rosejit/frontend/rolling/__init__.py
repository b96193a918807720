"""Rolling of host loops: abstract interpretation of a body that decides whether one IR loop gives the same bits."""
