// Follows a replay by server-sent events. The browser reconnects by itself when a stream ends; if
// it gives up, the page reloads after 5 s.
const shown = document.querySelector('[data-follow]')
if (shown instanceof HTMLElement) follow(shown)

function follow(element) {
  const bar = element.querySelector('progress')
  const text = element.querySelector('[role=status]')
  const source = new EventSource(element.dataset.follow)
  source.addEventListener('progress', ({ data }) => {
    const { value, max, words, isLast } = JSON.parse(data)
    bar.max = max
    bar.value = value
    text.textContent = words
    if (isLast) source.close()
  })
  source.addEventListener('error', () => {
    if (source.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 5_000)
  })
}
