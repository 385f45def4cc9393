// What pages can do better with a script. Every page works without it.
document.documentElement.classList.add('scripted')
showTimes()
setInterval(showTimes, 30_000)
showCountdowns()
setInterval(showCountdowns, 1_000)
for (const button of document.querySelectorAll('button[data-copy]')) offerCopy(button)
for (const button of document.querySelectorAll('button[data-dismiss]')) offerDismissal(button)
for (const form of document.querySelectorAll('form.filter')) applyAtOnce(form)
keepLists()
for (const form of document.querySelectorAll('form[method=post]')) nameFaults(form)
for (const element of document.querySelectorAll('[data-follow]')) follow(element)
for (const element of document.querySelectorAll('[data-live]')) followRows(element)
document.addEventListener('submit', holdButtons)
// A page from the back/forward cache has the buttons as they were left.
window.addEventListener('pageshow', releaseButtons)
document.addEventListener('keydown', focusSearch)
document.addEventListener('keydown', openGoTo)

/** Times relative to now or in the reader's time zone; the title has the time in UTC. */
function showTimes() {
  for (const time of document.querySelectorAll('time[datetime]:not([data-countdown])')) {
    const at = new Date(time.dateTime)
    time.title ||= time.textContent
    if (time.dataset.exact !== undefined) time.textContent = local(at)
    else if (time.dataset.due !== undefined && at <= Date.now()) time.textContent = 'now'
    else time.textContent = relative(at)
  }
}

/** The time until something happens, by the second. */
function showCountdowns() {
  for (const time of document.querySelectorAll('time[data-countdown]')) {
    const seconds = Math.ceil((new Date(time.dateTime) - Date.now()) / 1_000)
    const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60]
    const parts = [hours && `${hours} h`, minutes && `${minutes} min`, `${seconds % 60} s`]
    time.title ||= time.textContent
    time.textContent = seconds > 0 ? `in ${parts.filter(Boolean).join(' ')}` : 'now'
  }
}

function relative(at) {
  const seconds = (at - Date.now()) / 1_000
  const steps = [
    ['second', 1, 60],
    ['minute', 60, 3_600],
    ['hour', 3_600, 86_400],
    ['day', 86_400, 7 * 86_400],
  ]
  const step = steps.find(([, , limit]) => Math.abs(seconds) < limit)
  if (step === undefined) return at.toLocaleDateString('en-GB', { dateStyle: 'medium' })
  const [unit, length] = step
  if (unit === 'second' && seconds < 0) return 'just now'
  return new Intl.RelativeTimeFormat('en', { style: 'short' }).format(
    Math.trunc(seconds / length),
    unit,
  )
}

function local(at) {
  return at.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
}

/** Copies the text of the element that `data-copy` names. */
function offerCopy(button) {
  const source = document.getElementById(button.dataset.copy)
  if (source === null || navigator.clipboard === undefined) return
  button.hidden = false
  const label = button.textContent
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(source.textContent)
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = label
    }, 2_000)
  })
}

function offerDismissal(button) {
  button.hidden = false
  button.addEventListener('click', () => button.parentElement.remove())
}

/** Sends a filter when it changes; a range has a button, because a date is entered part by part. Omits empty fields. */
function applyAtOnce(form) {
  form.addEventListener('change', ({ target }) => {
    if (target.closest('details') === null) form.requestSubmit()
  })
  form.addEventListener('formdata', ({ formData }) => {
    for (const [name, value] of [...formData]) if (value === '') formData.delete(name)
  })
}

/** The way back to a list leads to it as this tab has left it, with its filters and its page. */
function keepLists() {
  const kept = tabStorage()
  // What was just done or made is said once.
  const query = new URLSearchParams(location.search)
  for (const name of ['done', 'shown']) query.delete(name)
  if (document.querySelector('form.filter')) kept?.setItem(location.pathname, `${query}`)
  for (const link of document.querySelectorAll('.trail a')) {
    link.search ||= kept?.getItem(link.pathname) ?? ''
  }
  // The filters name objects of one person in one tenant.
  document.addEventListener('submit', ({ target }) => {
    if (/\/(logout|switch)$/.test(target.action)) kept?.clear()
  })
}

/** Null where the browser refuses it, such as in a frame of another site. */
function tabStorage() {
  try {
    return sessionStorage
  } catch {
    return null
  }
}

/** Names every fault of a form beside its field, all at once. Browsers alone name the first one. */
function nameFaults(form) {
  form.noValidate = true
  form.addEventListener('submit', (event) => {
    const wrong = [...form.elements].filter((field) => field.willValidate && !judge(field))
    if (wrong.length === 0) return
    event.preventDefault()
    for (const field of wrong) field.closest('details')?.setAttribute('open', '')
    wrong[0].focus()
  })
  form.addEventListener('input', ({ target }) => {
    if (target.dataset.judged !== undefined) judge(target)
  })
}

/** Shows or removes the fault of a field; true if it has none. */
function judge(field) {
  const id = `fault-${[...document.forms].indexOf(field.form)}-${[...field.form.elements].indexOf(field)}`
  document.getElementById(id)?.remove()
  if (field.checkValidity()) {
    if (field.dataset.judged === undefined) return true
    delete field.dataset.judged
    field.removeAttribute('aria-invalid')
    field.removeAttribute('aria-describedby')
    return true
  }
  const text = document.createElement('span')
  text.id = id
  text.className = 'fault'
  const { validity, title, validationMessage } = field
  text.textContent = validity.patternMismatch && title !== '' ? title : validationMessage
  const label = field.closest('label')
  if (label === null) field.after(text)
  else label.append(text)
  field.dataset.judged = ''
  field.setAttribute('aria-invalid', 'true')
  field.setAttribute('aria-describedby', id)
  return false
}

/** A pressed button shows it and cannot be pressed again. Later, so that its value is sent. */
function holdButtons(event) {
  if (event.target.method !== 'post' || event.defaultPrevented) return
  setTimeout(() => {
    for (const button of event.target.querySelectorAll('button')) {
      button.disabled = true
      button.setAttribute('aria-busy', 'true')
    }
  })
}

function releaseButtons() {
  for (const button of document.querySelectorAll('button[aria-busy]')) {
    button.disabled = false
    button.removeAttribute('aria-busy')
  }
}

/** `/` moves to the page's search field. */
function focusSearch(event) {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return
  if (event.target.closest('input, select, textarea')) return
  const field = document.querySelector('input[data-search]')
  if (field === null) return
  event.preventDefault()
  field.focus()
  field.select()
}

/** Ctrl+K opens a dialog that filters pages and actions, and asks for objects; the page “Go to” finds the rest. */
function openGoTo(event) {
  if (event.key.toLowerCase() !== 'k' || event.ctrlKey === event.metaKey) return
  if (event.altKey || event.shiftKey || document.querySelector('.side a.go') === null) return
  event.preventDefault()
  if (document.querySelector('dialog:modal') !== null) return
  const dialog = document.createElement('dialog')
  dialog.className = 'go'
  dialog.closedBy = 'any'
  dialog.setAttribute('aria-label', 'Go to')
  dialog.innerHTML = `<form class="finder" action="/app/go">
    <input type="search" name="q" maxlength="100" autocomplete="off" placeholder="Page, action, name or ID" aria-label="Page, action, name or ID">
    <div class="pages"></div><p class="unseen" role="status"></p><button class="button plain slim"></button></form>`
  const [field, more] = dialog.querySelectorAll('input, button')
  const list = dialog.querySelector('.pages')
  const said = dialog.querySelector('[role=status]')
  let asked = new AbortController()
  let pause

  function find() {
    const words = field.value.toLowerCase().split(/\s+/)
    const pages = document.querySelectorAll('.side .pages a')
    const actions = document.querySelector('#actions').content.querySelectorAll('a')
    const links = [...pages, ...(field.value.trim() === '' ? [] : actions)].filter(
      ({ textContent }) => words.every((word) => textContent.toLowerCase().includes(word)),
    )
    list.replaceChildren(...links.map((link) => link.cloneNode(true)))
    const text = field.value.trim()
    more.textContent = text === '' ? 'All pages and actions' : `Search “${text}” in names and IDs`
    ask(text)
  }

  /** Adds objects once the person has stopped typing. */
  function ask(text) {
    asked.abort()
    asked = new AbortController()
    clearTimeout(pause)
    said.textContent = ''
    if (text !== '') pause = setTimeout(suggest, 200, text, asked.signal)
  }

  async function suggest(text, signal) {
    try {
      const answer = await fetch(`/app/go/suggestions?${new URLSearchParams({ q: text })}`, {
        signal,
      })
      if (!answer.ok) return
      const template = document.createElement('template')
      template.innerHTML = await answer.text()
      if (signal.aborted) return
      const found = [...template.content.children]
      list.append(...found)
      said.textContent = `${found.length || 'No'} object${found.length === 1 ? '' : 's'} found`
    } catch {
      // Typed on, or without a connection: the button leads to the same search.
    }
  }

  field.addEventListener('input', find)
  dialog.addEventListener('close', () => {
    ask('')
    dialog.remove()
  })
  dialog.addEventListener('keydown', (pressed) => {
    const links = [...list.children]
    const stops = [field, ...links, more]
    const step = { ArrowDown: 1, ArrowUp: -1 }[pressed.key]
    const isFirst = pressed.key === 'Enter' && pressed.target === field && links.length > 0
    if (step === undefined && !isFirst) return
    pressed.preventDefault()
    if (isFirst) links[0].click()
    else stops.at((stops.indexOf(pressed.target) + step) % stops.length).focus()
  })
  find()
  document.body.append(dialog)
  dialog.showModal()
}

/**
 * Follows a progress by server-sent events. The browser reconnects by itself when a stream ends; if it
 * gives up, the page reloads after 5 s.
 */
function follow(element) {
  const bar = element.querySelector('progress')
  const text = element.querySelector('[role=status]')
  const source = new EventSource(element.dataset.follow)
  source.addEventListener('progress', ({ data }) => {
    const { value, max, words, isLast } = JSON.parse(data)
    bar.max = max
    bar.value = value
    text.textContent = words
    if (!isLast) return
    source.close()
    if (document.querySelector('[data-outcome-follows]')) return location.reload()
    for (const part of document.querySelectorAll('[data-until-last]')) part.remove()
  })
  source.addEventListener('error', () => {
    if (source.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 5_000)
  })
}

/**
 * Shows new and changed rows of a list while its page is visible. Without a stream there is a link to
 * reload. A row that has the focus waits.
 */
function followRows(element) {
  const state = document.querySelector('[data-live-state]')
  const reload = document.querySelector('[data-reload]')
  const size = 20
  let source = null

  function start() {
    source = new EventSource(element.dataset.live)
    source.addEventListener('open', () => say(true))
    source.addEventListener('rows', ({ data }) => show(JSON.parse(data).markup))
    source.addEventListener('error', () => say(source?.readyState !== EventSource.CLOSED))
  }

  function say(isLive) {
    state.textContent = isLive ? 'New rows appear by themselves.' : 'New rows are not shown.'
    reload.hidden = isLive
  }

  function show(markup) {
    if (markup === '') return
    const body = element.querySelector('tbody')
    if (body === null) return location.reload()
    const template = document.createElement('template')
    template.innerHTML = markup
    for (const row of [...template.content.querySelectorAll('tbody tr')].reverse()) place(body, row)
    for (const row of [...body.rows].slice(size))
      if (!row.querySelector(':checked, :focus')) row.remove()
    showTimes()
  }

  function place(body, row) {
    const box = row.querySelector('input')
    const shown = body.querySelector(`input[value="${box.value}"]`)?.closest('tr')
    if (shown === undefined) return body.prepend(row)
    box.checked = shown.querySelector('input').checked
    if (!shown.contains(document.activeElement)) shown.replaceWith(row)
  }

  function follow() {
    source?.close()
    source = null
    if (!document.hidden) start()
  }

  document.addEventListener('visibilitychange', follow)
  window.addEventListener('pagehide', () => source?.close())
  follow()
}
