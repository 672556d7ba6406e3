// The page is whole without this. Here its parts are renewed as they change.
import { announce } from './announce.js';
import { countdown, localize } from './times.js';
import { morph } from './morph.js';
import './answer.js';

const address = document.body.dataset.live;
const title = document.title;
// Without a beat for so long the connection is taken for lost.
const patience = 12_000;
let source = null;
let heard = 0;
let lost = false;
let retry = 0;
let release = null; // ends the turn of the hidden page that listens

localize(document);
openTarget();
addEventListener('hashchange', openTarget);
// Columns are for the mouse; the keyboard has the list of turns behind the name.
document.addEventListener('click', (event) => {
  const turn = event.target.closest?.('[data-turn]')?.dataset.turn;
  if (turn) location.href = `${event.target.closest('[data-record]').dataset.record}#${turn}`;
});
setInterval(() => {
  countdown();
  if (source && Date.now() - heard > patience) again();
}, 1000);
if (address) {
  document.addEventListener('visibilitychange', listen);
  listen();
}

// listen follows what is shown. A page that nobody sees follows prompts alone, since
// somebody who has it open can still be asked; of several such pages one does.
function listen() {
  stop();
  if (!document.hidden) {
    start(address, 'connecting');
    return;
  }
  state('paused', 'paused');
  const quiet = address + (address.includes('?') ? '&' : '?') + 'quiet=1';
  if (!navigator.locks) {
    start(quiet, 'paused');
    return;
  }
  navigator.locks.request('warmpath-quiet', () => new Promise((resolve) => {
    if (!document.hidden) {
      resolve();
      return;
    }
    release = resolve;
    start(quiet, 'paused');
  }));
}

function stop() {
  source?.close();
  source = null;
  clearTimeout(retry);
  release?.();
  release = null;
}

function start(url, mood) {
  heard = Date.now();
  if (mood === 'connecting' && !lost) state('connecting', 'connecting');
  const mine = new EventSource(url);
  source = mine;
  mine.addEventListener('open', () => {
    heard = Date.now();
    if (lost) announce('Connected again.');
    lost = false;
    if (mood === 'paused') state('paused', 'paused');
    else state('live', 'live');
  });
  mine.addEventListener('beat', () => { heard = Date.now(); });
  mine.addEventListener('part', (event) => {
    heard = Date.now();
    const { part, html } = JSON.parse(event.data);
    renew(part, html);
  });
  mine.addEventListener('error', () => {
    if (source === mine) again();
  });
}

// again tells that the connection is lost, and tries once more in a while; or goes to
// the login, if that is why.
function again() {
  source?.close();
  source = null;
  if (!lost) announce('The connection to the gateway is lost. The numbers are those from before.');
  lost = true;
  state('lost', 'disconnected, trying again');
  clearTimeout(retry);
  retry = setTimeout(async () => {
    try {
      const response = await fetch('api/status');
      if (response.status === 401) {
        location.reload();
        return;
      }
    } catch { /* not there yet */ }
    listen();
  }, 2000);
}

function state(name, words) {
  const place = document.getElementById('connection');
  place.hidden = false;
  place.dataset.state = name;
  if (place.textContent !== words) place.textContent = words;
}

function renew(part, html) {
  const place = document.getElementById(part);
  if (!place) return;
  const fresh = document.createElement('template');
  fresh.innerHTML = html;
  localize(fresh.content);
  const before = part === 'prompts' ? waiting() : [];
  const inside = place.contains(document.activeElement);
  morph(place, fresh.content);
  if (part !== 'prompts') return;
  const after = waiting();
  const opened = after.filter((id) => !before.includes(id));
  const closed = before.filter((id) => !after.includes(id));
  if (opened.length) announce(opened.length === 1 ? 'A question waits for you.' : `${opened.length} questions wait for you.`);
  else if (closed.length) announce('A question was answered elsewhere, or is over.');
  if (closed.length && inside && !place.contains(document.activeElement)) {
    (place.querySelector('h2') ?? document.getElementById('main')).focus();
  }
  document.title = after.length ? `(${after.length}) ${title}` : title;
}

function waiting() {
  return [...document.querySelectorAll('form.card')].map((form) => form.id);
}

// openTarget opens the record that the address points to.
function openTarget() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) {
    target.open = true;
    target.scrollIntoView({ block: 'nearest' });
  }
}
