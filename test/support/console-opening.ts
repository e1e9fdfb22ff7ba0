/**
 * Runs in the page of a list: appends to `__opened`, for each click on a row, the milliseconds until the record's title and
 * state are drawn and until its whole page is.
 */
export const WATCH_OPENING = `(() => {
  globalThis.__opened = [];
  document.addEventListener('click', (event) => {
    if (event.target.closest('[role=grid]') === null) return;
    const start = performance.now();
    const title = event.target.closest('[role=row]').querySelector('[data-column=title]').textContent;
    let shown;
    const look = () => {
      if (shown === undefined && document.querySelector('main header h1')?.textContent?.includes(title)) shown = performance.now() - start;
      if (document.querySelector('[data-record-head] h1') === null) return requestAnimationFrame(look);
      globalThis.__opened.push([shown ?? performance.now() - start, performance.now() - start]);
    };
    look();
  }, true);
})()`;
