import { type Command, Option } from '@commander-js/extra-typings'
import { eventTypes } from '#src/webhooks/events/types.ts'
import type { deliveryStatuses as statuses } from '#src/webhooks/history/deliveries.ts'
import { addShortName } from '../api/command-line.ts'
import {
  apiFailed,
  details,
  json,
  needsToken,
  readCount,
  readEventType,
  readHttpStatus,
  readRate,
  readTime,
  readUrl,
  readUuid,
} from '../kit/arguments.ts'
import { readSources } from '../kit/environment.ts'

/** As in src/webhooks/history/deliveries.ts, which takes longer to load than help takes to print. */
export const deliveryStatuses = [
  'pending',
  'succeeded',
  'exhausted',
] as const satisfies typeof statuses

const needsApp = `Needs GATEHOUSE_TOKEN: an app token with the permission, as
\`gatehouse app-tokens create\` prints it. The instance is GATEHOUSE_URL, else
BASE_URL, else the demo that runs in this folder. Set token and address in the
same place: both in the environment or both in .env.`

/** The commands that use the HTTP API of a running instance with a token. */
export function addWebhookCommands(program: Command): void {
  addEventCommands(program)
  addEndpointCommands(program)
  addDeliveryCommands(program)
}

const ofType = ['--type <type>', 'Only events of this type', readEventType] as const
const ofTypes = (text: string) =>
  new Option('--types <types...>', text).argParser((one: string, all: string[] | undefined) => [
    ...(all ?? []),
    readEventType(one),
  ])
const withSignature = () =>
  new Option('--signature <profile>', 'Signature of the events').choices([
    'spec',
    'standard',
    'both',
  ])

function addEventCommands(program: Command): void {
  program
    .command('listen')
    .description("Send your tenant's events to a local program, signed like deliveries")
    .requiredOption('--forward-to <url>', 'URL of the program', readUrl)
    .option(...ofType)
    .option('--from <time>', 'Begin at this RFC 3339 time (default: now)', readTime)
    .option('--state <file>', 'Keep the position in this file and go on from there')
    .addOption(withSignature().default('spec' as const))
    .option('--json', 'Print each response as a line of JSON')
    .addHelpText(
      ...details(
        apiFailed,
        `For a program that is being developed: it needs no public address. The events
come from the feed (GET /events), so no endpoint is needed and none is changed.
Shows each response. While the program does not respond, the event is sent
again. With --state at most the last ten events are sent twice, with their ids.
The secret is new in each run, or GATEHOUSE_LISTEN_SECRET.
${needsToken}`,
      ),
    )
    .action(async (options) => (await import('./listen.ts')).default(readSources(), options))
  const events = program.command('events').description('Events: tail, publish')
  events
    .command('tail')
    .description('Print events as they happen')
    .option(...ofType)
    .option('--from <time>', 'Begin at this RFC 3339 time (default: now)', readTime)
    .option('--no-follow', 'End after the last event')
    .option('--json', 'Print each event as a line of JSON, with its data')
    .addHelpText(...details(apiFailed, needsToken))
    .action(async (options) => (await import('./events.ts')).default(readSources(), options))
  events
    .command('publish')
    .description('Publish an event of your app to a tenant')
    .argument('<type>', 'Event type that the app has registered')
    .argument('<data>', 'JSON object, or @FILE')
    .requiredOption('--tenant <id>', 'Id of the tenant', readUuid)
    .option('--id <id>', 'Your id of the event; a second event with it has no effect')
    .option(...json)
    .addHelpText(...details(apiFailed, needsApp))
    .action(async (type, data, options) =>
      (await import('./app-events.ts')).publish(readSources(), type, data, options),
    )
  program
    .command('event-types')
    .description('Event types of your app: apply')
    .command('apply')
    .description('Register the event types of a file, or replace them')
    .argument('<file>', 'JSON: { "NAME": { "description", "schema", "example" } }')
    .option(...json)
    .addHelpText(
      ...details(
        apiFailed,
        `Applying a file again changes nothing. It stops at the first type that is
refused; the types before that stay registered.
${needsApp}`,
      ),
    )
    .action(async (file, options) =>
      (await import('./app-events.ts')).applyTypes(readSources(), file, options),
    )
}

const rateLimit = ['--rate-limit <n>', 'Deliveries per second; others wait', readRate] as const
const burst = ['--burst <n>', 'How many at once after a quiet time', readRate] as const
const burstAlone = "error: option '--burst' needs '--rate-limit'"
const wrongUsage = { exitCode: 2 } as const

function isBurstAlone(options: { rateLimit?: unknown; burst?: unknown }): boolean {
  return options.burst !== undefined && typeof options.rateLimit !== 'number'
}

function addEndpointCommands(program: Command): void {
  const endpoints = program
    .command('endpoints')
    .description('Endpoints of your tenant: list, show, create, update, test …')
  endpoints
    .command('list')
    .description('List the endpoints, newest first')
    .option(...json)
    .addHelpText(...details(apiFailed, needsToken))
    .action(async (options) => (await import('./endpoints.ts')).list(readSources(), options))
  endpoints
    .command('create')
    .description('Create an endpoint and print its signing secret')
    .argument('<url>', 'URL that receives the events', readUrl)
    .addOption(ofTypes('Only events of these types (default: all)'))
    .option('--description <text>', 'What it is for')
    .addOption(withSignature())
    .option(...rateLimit)
    .option(...burst)
    .option('--thin', 'Send only the id of an object, not its content')
    .option(...json)
    .addHelpText(...details(apiFailed, needsToken))
    .action(async (url, options, command) => {
      if (isBurstAlone(options)) command.error(burstAlone, wrongUsage)
      await (await import('./endpoints.ts')).create(readSources(), url, options)
    })
  endpoints
    .command('update')
    .description('Change what is given, and nothing else')
    .argument('<id>', 'Id of the endpoint', readUuid)
    .option('--url <url>', 'URL that receives the events', readUrl)
    .addOption(ofTypes('Only events of these types'))
    .option('--description <text>', 'What it is for')
    .addOption(withSignature())
    .option(...rateLimit)
    .option('--no-rate-limit', 'No limit')
    .option(...burst)
    .option('--thin', 'Send only the id of an object, not its content')
    .option('--no-thin', 'Send the content of an object')
    .option(...json)
    .addHelpText(...details(apiFailed, needsToken))
    .action(async (id, options, command) => {
      if (isBurstAlone(options)) command.error(burstAlone, wrongUsage)
      await (await import('./endpoints.ts')).update(readSources(), id, options)
    })
  for (const [name, operation, description] of shortNames) {
    addShortName(endpoints.command(name).description(description), operation)
  }
  endpoints
    .command('test')
    .description('Send a test event now and show the response')
    .argument('<id>', 'Id of the endpoint', readUuid)
    .addOption(
      new Option(
        '--type <type>',
        'Send example data of this type (default: endpoint.test)',
      ).choices([...eventTypes]),
    )
    .option(...json)
    .addHelpText(...details('the test failed', needsToken))
    .action(async (id, options) =>
      (await import('./endpoints.ts')).test(readSources(), id, options),
    )
  endpoints
    .command('probe')
    .description('Check the receiver with correct and incorrect deliveries')
    .argument('<id>', 'Id of the endpoint', readUuid)
    .option(...json)
    .addHelpText(...details('the receiver has a fault', needsToken))
    .action(async (id, options) =>
      (await import('./endpoints.ts')).probe(readSources(), id, options),
    )
}

const shortNames = [
  ['show', 'get-webhook-endpoint', 'Show one endpoint and its health'],
  ['delete', 'delete-webhook-endpoint', 'Delete an endpoint with its deliveries'],
  ['enable', 'enable-webhook-endpoint', 'Enable an endpoint that was disabled'],
  ['pause', 'pause-webhook-endpoint', 'Pause an endpoint: --keep true holds its deliveries'],
  ['resume', 'resume-webhook-endpoint', 'Resume a paused endpoint'],
  ['rotate', 'rotate-webhook-endpoint-secret', 'Replace the signing secret and print the new one'],
] as const

function addDeliveryCommands(program: Command): void {
  const deliveries = program
    .command('deliveries')
    .description('Deliveries of events to endpoints: list, replay, cancel')
  const withStatus = () =>
    new Option('--status <status>', 'Only deliveries in this status').choices(deliveryStatuses)
  const from = ['--from <time>', 'Created at or after this RFC 3339 time', readTime] as const
  const to = ['--to <time>', 'Created before this RFC 3339 time', readTime] as const
  const httpStatus = [
    '--http-status <status>',
    'Of the latest attempt: 404, 4xx, or none for no response',
    readHttpStatus,
  ] as const
  deliveries
    .command('list')
    .description('List deliveries, newest first')
    .option('--endpoint <id>', 'Only to this endpoint (default: to all)', readUuid)
    .addOption(withStatus())
    .option(...ofType)
    .option(...httpStatus)
    .option('--event <id>', 'Only the delivery of this event')
    .option(...from)
    .option(...to)
    .option('--limit <n>', 'Number of deliveries', readCount, 20)
    .option(...json)
    .addHelpText(...details(apiFailed, needsToken))
    .action(async (options) => (await import('./deliveries.ts')).list(readSources(), options))
  deliveries
    .command('replay')
    .description('Send deliveries again, with a new series of attempts')
    .argument('[ids...]', 'Ids of deliveries')
    .option('--endpoint <id>', 'Replay all that match, to this endpoint', readUuid)
    .addOption(withStatus())
    .option(...ofType)
    .option(...httpStatus)
    .option('--event <id>', 'Only the delivery of this event')
    .option(from[0], `${from[1]} (default: 90 days ago)`, readTime)
    .option(to[0], `${to[1]} (default: now)`, readTime)
    .option('-y, --yes', 'Send them; without it only their number is shown')
    .option(...json)
    .addHelpText(
      ...details(
        apiFailed,
        `Either ids, which are sent at once, or --endpoint with filters: shows how many
deliveries match, and with --yes sends them and shows the progress. Ctrl-C ends
only the display; \`deliveries cancel\` ends the replay.
${needsToken}`,
      ),
    )
    .action(async (ids, options, command) => {
      if ((ids.length === 0) === (options.endpoint === undefined)) {
        command.error('error: either ids or --endpoint is needed', wrongUsage)
      }
      const { replay, replayMatching } = await import('./deliveries.ts')
      const { endpoint } = options
      if (endpoint === undefined) return replay(readSources(), ids, options)
      return replayMatching(readSources(), { ...options, endpoint })
    })
  deliveries
    .command('cancel')
    .description('Cancel a replay in progress: what was not started is not sent')
    .argument('<replay>', 'Id of the replay', readUuid)
    .requiredOption('--endpoint <id>', 'Id of its endpoint', readUuid)
    .option(...json)
    .addHelpText(...details(apiFailed, needsToken))
    .action(async (id, options) =>
      (await import('./deliveries.ts')).cancel(readSources(), id, options),
    )
}
