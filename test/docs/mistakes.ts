export const programs = {
  tsc: 'node_modules/typescript/lib/tsc.js',
  biome: 'node_modules/@biomejs/biome/bin/biome',
} as const

/** A mistake: a piece of a file, what stands there instead, and what must fail then. */
export type Mistake = {
  path: string
  piece: string | RegExp
  instead: string
  run: readonly string[]
  /** Run before that, and once the file is as it was. */
  before?: readonly string[]
  after?: readonly string[]
}

const declaration = 'examples/shop/resources/tasks.ts'
const compile = [programs.tsc, '--project', 'tsconfig.resources.json']
// Builds the whole server without connecting to anything.
const start = ['dev/cli.ts', 'openapi']
const migrate = ['dev/cli.ts', 'migrate']
const tests = ['test/resources/resources.test.ts']

/** Keys are the first column of the page's table. */
export const mistakes: Readonly<Record<string, Mistake>> = {
  'a field that the table does not have': {
    path: declaration,
    piece: '    details: optional',
    instead: '    detail: optional(line(9)),\n    details: optional',
    run: migrate,
  },
  'a field with another type': {
    path: declaration,
    piece: "status: choice('open', 'done')",
    instead: "status: { ...choice('open', 'done'), column: 'boolean' as const }",
    run: migrate,
  },
  'a field that is not optional, but its column is': {
    ...{ path: declaration, piece: 'optional(text(5_000))', instead: 'text(5_000)' },
    run: migrate,
  },
  'a body without what a row needs': {
    ...{
      path: declaration,
      piece: "create: { permission: 'post:write', accepts: ['title',",
      instead: "create: { permission: 'post:write', accepts: [",
    },
    run: migrate,
  },
  'a body with what nobody writes': {
    ...{
      path: declaration,
      piece: "create: { permission: 'post:write', accepts: ['title',",
      instead: "create: { permission: 'post:write', accepts: ['title', 'createdAt',",
    },
    run: compile,
  },
  'a condition on another field': {
    ...{
      path: declaration,
      piece: 'Condition<{ readonly status: string }>',
      instead: 'Condition<{ readonly status: string; readonly state: string }>',
    },
    run: compile,
  },
  'a page with another field': {
    ...{ path: declaration, piece: "heading: 'title'", instead: "heading: 'subject'" },
    run: compile,
  },
  'a filter that is none': {
    ...{ path: declaration, piece: "filters: ['status']", instead: "filters: ['details']" },
    run: start,
  },
  'a table with capitals': {
    ...{ path: declaration, piece: "plural: 'tasks'", instead: "plural: 'Tasks'" },
    run: start,
  },
  "an owner's rows under a role": {
    ...{ path: declaration, piece: "scope: 'tenant'", instead: "scope: 'owner'" },
    run: start,
  },
  'a name that the program has': {
    ...{ path: declaration, piece: "defineResource('task'", instead: "defineResource('folder'" },
    run: start,
  },
  'a field that takes nothing': {
    ...{ path: declaration, piece: 'line(200)', instead: 'line(0)' },
    run: start,
  },
  'a table that no migration makes': {
    ...{ path: declaration, piece: "plural: 'tasks'", instead: "plural: 'chores'" },
    run: migrate,
  },
  'an optional field of a NOT NULL column': {
    ...{ path: declaration, piece: 'title: line(200)', instead: 'title: optional(line(200))' },
    run: migrate,
  },
  'a further route without a rule': {
    ...{
      path: 'examples/shop/routes/tasks.ts',
      piece: "config: { access: { resource: 'task', action: 'update' } },",
      instead: '',
    },
    run: start,
  },
}

/** In the shop of the repository, whose tests describe each resource a second time: the mistakes by their message. */
export const undescribed: Readonly<Record<string, Mistake>> = {
  'every declared resource is described a second time': {
    ...{ path: 'examples/shop/test/index.ts', piece: ', task]', instead: ']' },
    run: tests,
  },
  'the description was compared with what was wanted': {
    ...{
      path: 'examples/shop/test/task.ts',
      piece: 'rules: {',
      instead: "mark: 'review me',\n  rules: {",
    },
    run: tests,
  },
}
