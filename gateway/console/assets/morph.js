// morph makes the children of one element those of another and leaves alone what is the
// same: focus, selection, open details and what has been typed stay. Elements with an
// id are found again wherever they stand; one with data-keep is never changed.
export function morph(old, fresh) {
  // A form's id property is a control of that name, where there is one.
  const id = (node) => (node.nodeType === Node.ELEMENT_NODE ? node.getAttribute('id') : null);
  const known = new Map();
  for (const child of old.children) if (id(child)) known.set(id(child), child);
  let at = old.firstChild;
  for (const child of [...fresh.childNodes]) {
    let match = null;
    if (id(child)) match = known.get(id(child)) ?? null;
    else if (at && !id(at) && at.nodeType === child.nodeType && at.nodeName === child.nodeName) match = at;
    if (!match || match.nodeName !== child.nodeName) {
      old.insertBefore(child, at);
      continue;
    }
    if (match === at) at = at.nextSibling;
    else if (old.moveBefore) old.moveBefore(match, at);
    else old.insertBefore(match, at);
    change(match, child);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

function change(old, fresh) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
    return;
  }
  if (old.hasAttribute('data-keep')) return;
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !(name === 'open' && old.nodeName === 'DETAILS')) old.removeAttribute(name);
  }
  morph(old, fresh);
}
