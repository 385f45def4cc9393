import { apiVersion } from '#src/http/openapi/api-version.ts'
import { pageHead } from '#src/pages/kit/components.ts'
import { type Html, html, withCodeSpans } from '#src/pages/kit/html.ts'
import type { Page } from '#src/pages/kit/layout.ts'
import { docsLayout } from './frame.ts'
import type { Group } from './operations.ts'
import { sampleList, verifierSamples } from './samples.ts'

type Topic = { id: string; title: string; texts: readonly string[]; sample?: string }

/** How to use the API, topic by topic. `$BASE` in a sample is the address of the installation. */
export const topics: readonly Topic[] = [
  {
    id: 'authentication',
    title: 'Authentication',
    texts: [
      'Programs send an API token: create one on your account page. It acts for you in the tenant that was active when you created it, with your role at the time of each request, and can be limited to some permissions. It ends with your membership.',
      'A program that should not depend on a person sends a service token (`gths_…`): an admin creates one on the page Service tokens or with `POST /service-tokens`, with a name, an expiry and the permissions that it needs, written `resource:action` as in the table of permissions. It acts for the tenant: it does not end when its creator leaves, and everything that it does is recorded under its name. What belongs to people, such as accounts, members and what a person owns, and every page is 403, `person-required`: use an API token there.',
      'Pages of this server use the session cookie `sid`. A request with both a cookie and a token is 400.',
      'Without a credential the response is 401, without the permission 403.',
    ],
    sample: 'curl $BASE/me -H "Authorization: Bearer gth_…"',
  },
  {
    id: 'tenants',
    title: 'Tenants',
    texts: [
      'No request names a tenant: the session or the token decides it. `GET /tenants` lists yours, `POST /session/tenant` switches that of a session.',
      'An object of another tenant gives the same 404 as an object that does not exist.',
    ],
  },
  {
    id: 'paging',
    title: 'Lists',
    texts: [
      'A list responds with `{ "data", "nextCursor" }`. Pass the cursor as `cursor` to get the next page; it is null on the last one. The `Link` header has the next and the previous page. `limit` is 1 to 100, 50 by default.',
      'A cursor belongs to its list, filters and order. It grants nothing.',
    ],
    sample:
      'curl "$BASE/invoices?limit=100&from=2026-11-01T00:00:00Z&sort=createdAt" -H "Authorization: Bearer gth_…"',
  },
  {
    id: 'errors',
    title: 'Errors',
    texts: [
      'Errors are `application/problem+json` (RFC 9457). Compare `type`, which is the same in every installation, and show `detail`. `instance` is the id of the request, for questions to support.',
      'A malformed request has `errors`: for each refused value its place, a JSON pointer and what is wrong with it.',
    ],
    sample: `{
  "type": "/docs/errors/malformed",
  "title": "The request is malformed",
  "status": 400,
  "detail": "/name in the body is required.",
  "instance": "0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60",
  "errors": [{ "in": "body", "pointer": "/name", "detail": "is required" }]
}`,
  },
  {
    id: 'limits',
    title: 'Limits',
    texts: [
      '`RateLimit-Policy` has the limit that counted a request, `RateLimit` what is left of it. Beyond it the response is 429: nothing was done, and `Retry-After` has the seconds to wait. 503 has it as well.',
      'A tenant stores a limited number of rows and bytes: `GET /usage`. A write beyond that is 409, `quota-exceeded`.',
    ],
  },
  {
    id: 'idempotency',
    title: 'Idempotency',
    texts: [
      'Send an `Idempotency-Key` of your choice, such as a UUID, with a request that creates or changes something. If the response is lost, send the same request with the same key: it happens once, and the response is that of the first time, with `Idempotent-Replayed: true`; a response of more than 16 KiB besides what the request itself contains is not kept, and then the second one is 409. Keys are kept for 24 hours. The same key with another request is 422.',
    ],
    sample: `curl $BASE/teams -H "Authorization: Bearer gth_…" \\
  -H "Content-Type: application/json" -H "Idempotency-Key: $(uuidgen)" \\
  -d '{ "name": "Gate works" }'`,
  },
  {
    id: 'conditional-requests',
    title: 'Concurrent changes',
    texts: [
      'Objects that change have an `ETag`. Send it back as `If-Match` with a change: if somebody has changed the object since you read it, nothing is done, and the response is 412. With `If-None-Match` an object that has not changed is 304 without a body.',
    ],
    sample: `curl -X PATCH $BASE/teams/42 -H "Authorization: Bearer gth_…" \\
  -H "Content-Type: application/json" -H 'If-Match: "…"' -d '{ "name": "Harbour gate" }'`,
  },
  {
    id: 'versions',
    title: 'Versions',
    texts: [
      `The version of the API is a date, ${apiVersion}: the day of the last change that could break a client. Every response has it in \`API-Version\`, the API description in \`info.version\`.`,
      'What may be added without a new version: fields in responses and events, optional fields and parameters of requests, operations, types of events, values of `type` of an error, response headers. Ignore what you do not know. The order of fields and the texts of `title` and `detail` may change.',
      'Everything else has a new date, and an entry in the changelog.',
    ],
  },
  {
    id: 'webhooks',
    title: 'Webhooks',
    texts: [
      'An admin creates an endpoint with `POST /webhook-endpoints`; the response is the only one with its secret. Each delivery has `webhook-id`, `webhook-timestamp` and `webhook-signature`: `v1,` and the base64 of HMAC-SHA256 over the timestamp, a dot and the raw body, with the secret as the key.',
      'Verify the signature over the bytes as they arrived, refuse a timestamp that is more than 300 seconds away, and process each id once. Respond with any 2xx status within 10 seconds. Other responses are retried, later than planned if they have `Retry-After` (at most two hours).',
      '`POST /webhook-endpoints/{id}/test` sends a test, `…/probe` checks your receiver and names its faults. `GET /events` has every event in order, to catch up.',
      'Each of these programs is one function that uses the standard library only, and a few lines to try it.',
    ],
  },
  {
    id: 'accounted',
    title: 'All deliveries accounted for',
    texts: [
      'Every event that you publish has a delivery for each endpoint that takes it. A delivery is delivered, failed after its last attempt, or waiting for the next one. A delivery that is none of these is not accounted for: it would never be sent, and nobody would notice.',
      'So the program looks for such events and deliveries: every hour among the new ones, and again two hours and a day later. The page Webhooks says when it last looked, and how many it found.',
    ],
  },
]

export function guidePage(groups: readonly Group[], baseUrl: string): Page {
  return docsLayout(groups, {
    title: 'Guide',
    current: '/docs/guide',
    main: html`${pageHead({ title: 'Guide', lead: 'How to use the API, topic by topic.' })}
      <nav class="card topics" aria-label="Topics">${topics.map(({ id, title }) => html`<a href="#${id}">${title}</a>`)}</nav>
      ${topics.map((topic) => topicSection(topic, baseUrl))}`,
  })
}

function topicSection({ id, title, texts, sample }: Topic, baseUrl: string): Html {
  return html`<section class="card" aria-labelledby="${id}">
        <h2 id="${id}" class="topic">${title}</h2>
        ${texts.map((text) => html`<p class="passage">${withCodeSpans(text)}</p>`)}
          ${id === 'webhooks' ? sampleList('verify', verifierSamples()) : ''}
        ${sample === undefined ? '' : html`<pre class="example" tabindex="0" aria-label="Sample">${sample.replaceAll('$BASE', baseUrl)}</pre>`}
      </section>`
}
