import preact from "@preact/preset-vite";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [preact()],
  // The server allows no inline code: everything is a file, also small ones.
  build: { assetsInlineLimit: 0, modulePreload: { polyfill: false } },
});
