// Before anything is painted: the theme that was chosen here, if any. Without one the system's is used.
(function () {
  "use strict";
  let chosen = null;
  try { chosen = localStorage.getItem("theme"); } catch { /* storage is off: the system's theme it is */ }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
