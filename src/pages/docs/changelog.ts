import { pageHead } from '#src/pages/kit/components.ts'
import { html, withCodeSpans } from '#src/pages/kit/html.ts'
import type { Page } from '#src/pages/kit/layout.ts'
import { docsLayout } from './frame.ts'
import type { Group } from './operations.ts'

/** What callers of the API can notice, newest release first. */
const releases: readonly { version: string; changes: readonly string[] }[] = [
  {
    version: '0.1.0',
    changes: [
      'Every schema, operation and problem of the API description has a name; ids and `limit` are integers.',
      'The description has a webhook with a schema for each type of event.',
      '`Idempotency-Key` makes a request that creates or changes something happen once. Operations that take none refuse it.',
      '`ETag`, `If-Match` and `If-None-Match` on objects that change. An operation that cannot check them refuses them, except that a read may ignore `If-None-Match`.',
      'A malformed request lists every refused value in `errors`; unknown query parameters are 400.',
      'Deliveries can be filtered and counted by HTTP status and event; replays take the same filters or `deliveryIds`, and can be cancelled.',
      'Service tokens (`/service-tokens`): credentials of a tenant that outlive the person who created them. Posts of a service have `authorServiceId`, audit entries `serviceId` and `serviceName`.',
      'App tokens (`/app-tokens`): the app behind this program publishes events in the tenant that a path names, makes links to its portal, creates, lists and deletes its endpoints, and lists its members.',
      '`GET /auth/verify` tells a proxy who sent a request to an app behind it; `/.well-known/jwks.json` has the keys of its tokens. `GET /oauth2/auth` answers the same with the status and the names of oauth2-proxy.',
      'The API has a version, which is a date: `API-Version` in every response.',
      'Orders have a `currency`. Without it in the body it is that of the setting `CURRENCY`.',
      'Tokens have a `hint`: prefix and last four characters.',
      '`GET /me` has `features`, and `limits` with what is used of them. 403 `plan-required` names the feature, `limit-reached` the limit, and both the plans that have more.',
      'Lists have filters, `sort` and a `Link` header with the next and the previous page.',
      'A delivery has `health`: whether it waits, is retried after failed attempts, or is paused with its endpoint. The `health` of an endpoint counts the deliveries that are `retrying`.',
      '`POST /auth/tokens` requires `permissions`: a list, or `null` for all that you have.',
    ],
  },
]

export function changelogPage(groups: readonly Group[]): Page {
  return docsLayout(groups, {
    title: 'Changelog',
    current: '/docs/changelog',
    main: html`${pageHead({ title: 'Changelog', lead: 'Changes of the API. Fields and types of events may be added at any time: ignore those that you do not know.' })}
      ${releases.map(
        ({ version, changes }) => html`<section class="card" aria-label="${version}">
        <h2>${version}</h2>
        <ul>${changes.map((change) => html`<li>${withCodeSpans(change)}</li>`)}</ul>
      </section>`,
      )}`,
  })
}
