import { useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import load from "./model.py?functions=energy,step&args=rose.ShapeOf('n');1.0";

const { energy, step } = await load();

function Chain({ count }) {
  const [rest, setRest] = useState(1.0);
  const [x, setX] = useState(() => Float64Array.from({ length: count }, (_, i) => i * i * 0.3));
  useEffect(() => {
    const timer = setInterval(() => setX((before) => step(before, rest)), 30);
    return () => clearInterval(timer);
  }, [rest]);
  return (
    <figure>
      <svg viewBox="-1 -1 14 2" width="100%">
        {Array.from(x, (place, i) => <circle key={i} cx={place} cy="0" r="0.2" />)}
      </svg>
      <input type="range" min="0" max="2" step="0.01" value={rest} onChange={(e) => setRest(+e.target.value)} />
      <output id="energy">{energy(x, rest).toFixed(6)}</output>
    </figure>
  );
}

createRoot(document.getElementById("root")).render(<Chain count={6} />);
