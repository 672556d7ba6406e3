// announce says something to those who do not see the page change.
let pending = 0;
export function announce(text) {
  const place = document.getElementById('announce');
  if (!place) return;
  clearTimeout(pending);
  place.textContent = '';
  pending = setTimeout(() => { place.textContent = text; }, 50);
}
