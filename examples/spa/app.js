import { gatehouse } from './config.js'

const part = (id) => document.getElementById(id)

/**
 * Sends a request with the session cookie.
 * @returns the body; null if there is none
 * @throws an Error with the status and what the answer says
 */
async function send(path, { method = 'GET', body, headers = {} } = {}) {
  const json = body === undefined ? {} : { 'content-type': 'application/json' }
  const response = await fetch(gatehouse + path, {
    method,
    credentials: 'include',
    headers: { ...json, ...headers },
    body: JSON.stringify(body),
  })
  if (response.status === 204) return null
  const answer = await response.json()
  if (response.ok) return answer
  const reasons = (answer.errors ?? []).map(({ detail }) => detail)
  const text = [answer.title, answer.detail, ...reasons].filter(Boolean).join(' ')
  throw Object.assign(new Error(text), { status: response.status })
}

function show(isSignedIn) {
  part('signed-in').hidden = !isSignedIn
  part('signed-out').hidden = isSignedIn
}

/** Runs what a person started. A session that has ended shows the sign-in again. */
async function attempt(action) {
  part('message').textContent = ''
  try {
    await action()
  } catch (error) {
    if (error.status === 401) show(false)
    part('message').textContent = error.message
  }
}

function itemOf({ title, body }) {
  const item = document.createElement('li')
  // Never innerHTML: others write these texts.
  item.textContent = `${title}: ${body}`
  return item
}

async function list(cursor = '') {
  const page = await send(`/posts?limit=10${cursor && `&cursor=${encodeURIComponent(cursor)}`}`)
  part('posts').append(...page.data.map(itemOf))
  part('more').hidden = page.nextCursor === null
  part('more').onclick = () => attempt(() => list(page.nextCursor))
}

async function open() {
  const { user } = await send('/me')
  part('email').textContent = user.email ?? `user ${user.id}`
  show(true)
  await list()
}

/** The form that is sent again after a failure keeps its key, so it never creates a second post. */
let key = crypto.randomUUID()

part('create').addEventListener('submit', async (event) => {
  event.preventDefault()
  const form = event.target
  await attempt(async () => {
    const body = Object.fromEntries(new FormData(form))
    const headers = { 'idempotency-key': key }
    part('posts').prepend(itemOf(await send('/posts', { method: 'POST', body, headers })))
    key = crypto.randomUUID()
    form.reset()
    part('message').textContent = 'Created.'
  })
})

part('create').addEventListener('input', () => {
  key = crypto.randomUUID()
})

part('sign-out').addEventListener('click', () =>
  attempt(async () => {
    await send('/auth/logout', { method: 'POST' })
    part('posts').replaceChildren()
    show(false)
    part('message').textContent = 'You are signed out.'
  }),
)

const here = location.origin + location.pathname
part('sign-in').href = `${gatehouse}/auth/login?return_to=${encodeURIComponent(here)}`

open().catch(({ status, message }) => {
  show(false)
  if (status !== 401) part('message').textContent = message
})
