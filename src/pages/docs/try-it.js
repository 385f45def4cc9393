// Sends the requests of the reference and shows the responses.
const maxShown = 50_000 // characters
const shownHeaders = ['location', 'etag', 'link', 'retry-after', 'idempotent-replayed']
const token = document.getElementById('token')

for (const form of document.querySelectorAll('form[data-method]')) {
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const button = form.querySelector('button')
    button.disabled = true
    await send(form, form.parentElement.querySelector('[role=status]'))
    button.disabled = false
  })
}

async function send(form, shown) {
  const { method, path } = form.dataset
  const fields = [...form.elements].filter(({ dataset, value }) => dataset.in && value !== '')
  const inPlace = (place) => fields.filter(({ dataset }) => dataset.in === place)
  const target = inPlace('path').reduce(
    (url, { name, value }) => url.replace(`{${name}}`, encodeURIComponent(value)),
    path,
  )
  const query = new URLSearchParams(inPlace('query').map(({ name, value }) => [name, value]))
  const headers = Object.fromEntries(inPlace('header').map(({ name, value }) => [name, value]))
  const body = form.elements.body?.value
  if (body !== undefined) headers['content-type'] = 'application/json'
  const credential = token.value.trim()
  if (credential !== '') headers.authorization = `Bearer ${credential}`
  const startedAt = performance.now()
  try {
    const response = await fetch(query.size === 0 ? target : `${target}?${query}`, {
      method,
      headers,
      body,
      // A request with both a token and a session is refused.
      credentials: credential === '' ? 'same-origin' : 'omit',
      redirect: 'manual',
    })
    const text = await response.text()
    const duration = Math.round(performance.now() - startedAt)
    show(shown, response.ok, `${response.status} ${response.statusText} · ${duration} ms`, [
      ...shownHeaders
        .filter((name) => response.headers.has(name))
        .map((name) => `${name}: ${response.headers.get(name)}`),
      ...(text === '' ? [] : ['', readable(text).slice(0, maxShown)]),
    ])
  } catch (error) {
    show(shown, false, `The request failed: ${error.message}`, [])
  }
}

function readable(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function show(shown, isGood, title, lines) {
  const status = document.createElement('p')
  status.append(
    Object.assign(document.createElement('span'), {
      className: isGood ? 'badge good' : 'badge bad',
      textContent: title,
    }),
  )
  const text = lines.join('\n').trim()
  const answer = Object.assign(document.createElement('pre'), {
    className: 'excerpt',
    tabIndex: 0,
    textContent: text,
  })
  shown.replaceChildren(status, ...(text === '' ? [] : [answer]))
}
