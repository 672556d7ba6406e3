// Prompts are answered without leaving the page: the form goes as any form would, and
// what comes back is what is wrong with it, by field.
import { announce } from './announce.js';

document.addEventListener('submit', async (event) => {
  const form = event.target;
  if (!form.matches('form.card')) return;
  event.preventDefault();
  // A form's properties are its controls where these have their names.
  const address = form.getAttribute('action');
  const body = new URLSearchParams(new FormData(form, event.submitter));
  const buttons = form.querySelectorAll('button');
  for (const button of buttons) button.disabled = true;
  try {
    const response = await fetch(address, { method: 'POST', body, headers: { Accept: 'application/json' } });
    if (response.ok) {
      done(form);
      return;
    }
    const said = response.headers.get('content-type')?.startsWith('application/json') ? await response.json() : { message: await response.text() };
    show(form, said);
    if (response.status === 409 || response.status === 410 || response.status === 404) return; // it is over
  } catch {
    show(form, { message: 'The gateway does not answer. Nothing was sent; try again.' });
  }
  for (const button of buttons) button.disabled = false;
}, true);

// done takes the prompt away before the stream does, and leaves the keyboard somewhere.
function done(form) {
  announce('Your answer was taken.');
  const section = form.closest('section');
  form.remove();
  const rest = section?.querySelector('form.card');
  if (rest) section.querySelector('h2').focus();
  else {
    section?.remove();
    document.getElementById('main').focus();
  }
}

function show(form, { message, problems = {} }) {
  let first = null;
  for (const place of form.querySelectorAll('[data-problem]')) {
    const name = place.dataset.problem;
    if (!name) {
      place.textContent = message ?? '';
      continue;
    }
    const what = problems[name];
    place.textContent = what ? `The answer ${what}.` : '';
    for (const control of form.querySelectorAll(`[name="${CSS.escape(name)}"]`)) {
      if (what) control.setAttribute('aria-invalid', 'true');
      else control.removeAttribute('aria-invalid');
      if (what && !first) first = control;
    }
  }
  first?.focus();
}
