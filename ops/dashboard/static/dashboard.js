// What the pages can't do by themselves: the theme's button, and a live view that rests while nobody sees it.
(function () {
  "use strict";
  const THEMES = ["auto", "light", "dark"];
  const root = document.documentElement;

  function themeButton(button) {
    const label = button.querySelector("span");
    const name = () => root.dataset.theme || "auto";
    const tell = () => { label.textContent = "Theme: " + name(); };
    button.addEventListener("click", () => {
      const next = THEMES[(THEMES.indexOf(name()) + 1) % THEMES.length];
      if (next === "auto") delete root.dataset.theme; else root.dataset.theme = next;
      try { localStorage.setItem("theme", next); } catch { /* kept for this page only */ }
      tell();
    });
    tell();
  }

  // The extension opens a stream when it processes an element, and closes it when it cleans one up: told so by hand, the
  // stream follows the tab.
  function liveView(view, light) {
    const pieces = () => view.querySelectorAll("[sse-swap]");
    const say = (state) => { light.textContent = state; light.dataset.state = state; };
    view.addEventListener("htmx:sseOpen", () => say("live"));
    view.addEventListener("htmx:sseError", () => say("reconnecting"));
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) {
        htmx.trigger(view, "htmx:beforeCleanupElement");
        say("resting");
      } else {
        say("connecting");
        htmx.trigger(view, "htmx:afterProcessNode");
        pieces().forEach((piece) => htmx.trigger(piece, "htmx:afterProcessNode"));
      }
    });
  }

  const button = document.getElementById("theme");
  if (button) themeButton(button);
  const view = document.getElementById("live");
  if (view) liveView(view, document.getElementById("pulse"));
})();
