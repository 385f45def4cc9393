import formbody from '@fastify/formbody'
import Fastify from 'fastify'
import t from 'tap'
import declared from '#routes/pages/resources/rows.ts'
import { createFormOf, initialTexts } from '#src/pages/resources/rows.ts'
import type { Resource } from '#src/resources/kit/define.ts'
import { initially, optional } from '#src/resources/kit/fields/field.ts'
import { id } from '#src/resources/kit/fields/keys/id.ts'
import { flag } from '#src/resources/kit/fields/numbers/flag.ts'
import { integer } from '#src/resources/kit/fields/numbers/integer.ts'
import { line } from '#src/resources/kit/fields/texts/line.ts'
import { created, updated } from '#src/resources/kit/fields/times/timestamp.ts'
import type { Declared } from '#src/rows/table.ts'

const write = { permission: 'post:write', accepts: ['title', 'seats', 'level'] } as const
const room: Resource = {
  ...{ title: 'Room', name: 'room', plural: 'rooms', scope: 'tenant', forServices: false },
  fields: {
    ...{ id: id(), title: line(200), seats: integer('', { minimum: 1, maximum: 12 }) },
    ...{ level: integer(), createdAt: created(), updatedAt: updated() },
  },
  ...{
    filters: [],
    sort: [],
    search: [],
    unique: [],
    own: {},
    payloads: {},
    events: {},
    example: {},
    erased: null,
    worker: '',
    shape: Object(null),
    eventShape: Object(null),
  },
  actions: { read: { permission: 'post:read' }, create: write, update: write },
  page: { label: 'Rooms', heading: 'title' },
}

t.test('a number out of its range is a fault of its field', async (t) => {
  const app = Fastify()
  await app.register(formbody)
  app.setErrorHandler((error, _request, reply) => reply.code(400).send(Object(error).validation))
  await app.register(declared, { resources: [room as Declared] })
  t.teardown(() => app.close())
  const faultOf = async (fields: object) => {
    const form = { title: 'Attic', seats: '1', level: '0', submission: crypto.randomUUID() }
    const payload = new URLSearchParams({ ...form, ...fields }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const { body } = await app.inject({ method: 'POST', url: '/app/rooms/new', payload, headers })
    return JSON.parse(body)
  }
  t.match(await faultOf({ seats: '0' }), [{ instancePath: '/seats', keyword: 'refused' }])
  t.match(await faultOf({ seats: '13' }), [{ instancePath: '/seats', keyword: 'refused' }])
  t.match(await faultOf({ level: '1e3' }), [{ instancePath: '/level', keyword: 'pattern' }])
})

t.test('the form says which numbers it takes', async (t) => {
  const { seats, level } =
    createFormOf({ ...room, page: room.page ?? { label: '', heading: '' } })?.fields ?? {}
  t.equal(seats?.rule, 'A whole number from 1 to 12')
  t.equal(level?.rule, 'A whole number')
})

t.test('a flag is Yes or No, and a new row shows the value that it gets of itself', async (t) => {
  const accepts = ['open', 'heated', 'locked'] as const
  const flags = { open: initially(flag(), () => true), heated: flag(), locked: optional(flag()) }
  const create = { permission: 'post:write', accepts } as const
  const page = { label: 'Rooms', heading: 'title' }
  const declared = { ...room, fields: { ...room.fields, ...flags }, actions: { create }, page }
  const { open, heated, locked } = createFormOf(declared)?.fields ?? {}
  t.strictSame([open?.label, heated?.label, locked?.label], ['Open', 'Heated', 'Locked (optional)'])
  t.strictSame(open?.options, { yes: 'Yes', no: 'No' })
  t.strictSame(heated?.options, { yes: 'Yes', no: 'No' })
  t.strictSame(locked?.options, { '': 'None', yes: 'Yes', no: 'No' })
  const person = { userId: 1, tenantId: null, role: null, department: null, plan: null }
  const asking = { ...person, serviceId: null }
  t.strictSame(initialTexts(declared, asking, new Date(0)), { open: 'yes' })
})
