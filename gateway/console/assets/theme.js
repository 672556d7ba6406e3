// Before anything is drawn: the theme that the reader has chosen, so that no page
// flashes in another one.
'use strict';
{
  const order = ['auto', 'dark', 'light'];
  let theme = 'auto';
  try { theme = localStorage.getItem('warmpath-theme') || 'auto'; } catch { /* storage may be off */ }
  const set = () => {
    if (theme === 'dark' || theme === 'light') document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
  };
  set();
  addEventListener('DOMContentLoaded', () => {
    const button = document.getElementById('theme');
    if (!button) return;
    const name = () => { button.textContent = `Theme: ${theme}`; };
    name();
    button.hidden = false;
    button.addEventListener('click', () => {
      theme = order[(order.indexOf(theme) + 1) % order.length];
      set();
      name();
      try { localStorage.setItem('warmpath-theme', theme); } catch { /* it holds for this page */ }
    });
  });
}
