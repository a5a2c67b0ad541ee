// Light or dark: as the machine says, until the person chooses.

const STORE = "planforge-theme";

type Theme = "light" | "dark";

const chosen = (): string | null => {
  try {
    return localStorage.getItem(STORE);
  } catch {
    return null;
  }
};

const apply = (theme: string | null): void => {
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
};

export const themeNow = (): Theme => {
  const theme = document.documentElement.dataset.theme;
  return theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches) ? "dark" : "light";
};

/** Pictures that were drawn in the colours before are drawn again at this event of the window. */
export const THEME_CHANGED = "planforge-theme";

export function choose(theme: Theme): void {
  apply(theme);
  try {
    localStorage.setItem(STORE, theme);
  } catch {
    // Without a place to keep it, the choice holds until the next page.
  }
  dispatchEvent(new Event(THEME_CHANGED));
}

apply(chosen());
