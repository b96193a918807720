import react from "@vitejs/plugin-react";
import rose from "./vite-plugin-rose.mjs";

export default {
  plugins: [rose({ python: process.env.PYTHON }), react()],
  build: { target: "es2022", assetsInlineLimit: 0 },
};
