// Runs before the page is drawn, so that a chosen theme never flashes. `data-theme` is "light", "dark" or absent.
"use strict";
{
  let chosen = null;
  try {
    chosen = localStorage.getItem("appletaste.theme");
  } catch {
    // no storage: the system's theme holds
  }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
}
