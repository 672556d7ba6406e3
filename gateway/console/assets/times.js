// Times come in UTC, as pages without scripts show them; here they are the reader's.
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

export function localize(root) {
  for (const time of root.querySelectorAll('time[datetime]')) {
    const at = new Date(time.dateTime);
    if (time.hasAttribute('data-until')) time.textContent = left(at);
    else time.textContent = clock.format(at);
    time.title = day.format(at);
  }
}

// countdown keeps what is said of times that come up to date.
export function countdown() {
  for (const time of document.querySelectorAll('time[data-until]')) {
    const text = left(new Date(time.dateTime));
    if (time.textContent !== text) time.textContent = text;
  }
}

function left(until) {
  const seconds = Math.max(0, Math.round((until - Date.now()) / 1000));
  if (seconds >= 3600) return `until ${clock.format(until)}`;
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} left`;
}
