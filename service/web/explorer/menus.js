// Menus of the page: <details> with a panel, one open at a time.

/** Close all menus. */
export function closeMenus() {
  for (const menu of document.querySelectorAll("details.menu[open]")) menu.removeAttribute("open");
}

/** Close the menus when there is a click elsewhere or Escape, and keep them inside the window. */
export function watchMenus() {
  const others = (/** @type {any} */ target) =>
    [...document.querySelectorAll("details.menu[open]")].filter((menu) => !menu.contains(target));
  document.addEventListener("click", (event) => {
    for (const menu of others(event.target)) menu.removeAttribute("open");
  });
  document.addEventListener("keydown", (event) => {
    const menu = document.querySelector("details.menu[open]");
    if (event.key !== "Escape" || menu === null) return;
    menu.removeAttribute("open");
    menu.querySelector("summary")?.focus();
    event.stopImmediatePropagation();
  });
  document.addEventListener(
    "toggle",
    (event) => {
      const menu = /** @type {HTMLDetailsElement} */ (event.target);
      if (!menu.matches("details.menu") || !menu.open) return;
      for (const other of others(menu)) other.removeAttribute("open");
      const panel = /** @type {HTMLElement} */ (menu.querySelector(".panel"));
      panel.style.left = "";
      panel.style.top = "";
      const place = menu.getBoundingClientRect();
      const size = panel.getBoundingClientRect();
      panel.style.left = `${Math.max(8, Math.min(place.left, document.documentElement.clientWidth - size.width - 8))}px`;
      const below = place.bottom + 6;
      const above = place.top - 6 - size.height;
      panel.style.top = `${below + size.height > innerHeight && above > 0 ? above : below}px`;
    },
    true,
  );
}
