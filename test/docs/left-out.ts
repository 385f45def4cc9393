const migration = 'prisma/migrations/20261201000000_notes/migration.sql'
const policies = 'prisma/policies.sql'

export const programs = {
  prisma: 'node_modules/prisma/build/index.js',
  tsc: 'node_modules/typescript/lib/tsc.js',
  biome: 'node_modules/@biomejs/biome/bin/biome',
} as const

/**
 * A step of the page that is undone: the piece to remove from a file (none if the page does not
 * create it), and what must fail then (null for the verification of the database).
 */
export type LeftOut = {
  path: string
  piece?: string | RegExp
  instead?: string
  run: readonly string[] | null
}

// Builds the whole server without connecting to anything.
const start = ['src/cli.ts', 'openapi']

/** Keys are the first column of the page's last table. */
export const leftOut: Readonly<Record<string, LeftOut>> = {
  '`schema.operationId` of a route': {
    path: 'routes/api/resources/notes.ts',
    piece: "operationId: 'listNotes',\n",
    run: start,
  },
  '`config.access` of a route': {
    path: 'routes/api/resources/notes.ts',
    piece: "config: { access: { resource: 'note', action: 'read' } },",
    run: start,
  },
  'the rules in `src/access/policy.ts`': {
    path: 'src/access/policy.ts',
    piece: /^ {2}allow\('note', [^)]*\),\n/gm,
    run: start,
  },
  '`config.idempotencyKey` of a POST that creates': {
    path: 'routes/api/resources/notes.ts',
    piece: '        idempotencyKey: true,\n',
    run: start,
  },
  '`config.versioned` of a PATCH': {
    path: 'routes/api/resources/notes.ts',
    piece: /(?<=patch\([^{]*\{\s*config: \{ )versioned: Note, /,
    run: start,
  },
  'the scope: registered outside `tenant`': {
    path: 'src/app.ts',
    piece: /( {6}await app\.register\(async function tenant[\s\S]*?) {8}(await .*\(api\.notes\)\n)/,
    instead: '$2$1',
    run: start,
  },
  '`ENABLE ROW LEVEL SECURITY`': {
    path: migration,
    piece: 'ENABLE ROW LEVEL SECURITY, ',
    run: null,
  },
  '`FORCE ROW LEVEL SECURITY`': {
    path: migration,
    piece: ', FORCE ROW LEVEL SECURITY',
    run: null,
  },
  'the policy': { path: policies, piece: /CREATE POLICY \w+ ON notes\b[^;]*;/, run: null },
  'the condition in it: `USING (true)`': {
    path: policies,
    piece: /(?<=ON notes\s+)USING .*(?=;)/,
    instead: 'USING (true)',
    run: null,
  },
  '`count_table`': {
    path: 'prisma/triggers.sql',
    piece: /SELECT count_table\('notes'[^;]*;/,
    run: ['test/schema/counted-tables.test.ts'],
  },
  'the tenant in a key': {
    path: migration,
    piece: 'PRIMARY KEY (tenant_id, id)',
    instead: 'PRIMARY KEY (id)',
    run: ['test/schema/tenant-keys.test.ts'],
  },
  'a column, or all of it, in `prisma/schema.prisma`': {
    path: 'prisma/schema.prisma',
    piece: '  department String?\n  text ',
    instead: '  text ',
    run: ['test/schema/drift.test.ts'],
  },
  'the line in `src/schema/tables.ts`': {
    path: 'src/schema/tables.ts',
    piece: /^ {2}notes: .*\n/m,
    run: ['test/schema/tables.test.ts'],
  },
  'the row in `src/schema/isolation-rows.ts`': {
    path: 'src/schema/isolation-rows.ts',
    piece: /^ {2}notes: [\s\S]*?\n {2}\}\),\n/m,
    run: ['test/schema/verify-isolation.test.ts'],
  },
  'the sections in `src/auth/erasure/export.ts`': {
    path: 'src/auth/erasure/export.ts',
    piece: /^ +'notes',\n/gm,
    run: ['test/auth/erasure/export.test.ts'],
  },
  'the row in `test/auth/erasure/walk.test.ts`': {
    path: 'test/auth/erasure/walk.test.ts',
    piece: /^ {2}notes: .*\n/m,
    run: ['test/auth/erasure/walk.test.ts'],
  },
  'the event type in `src/webhooks/events/types.ts`': {
    path: 'src/webhooks/events/types.ts',
    piece: "  'note.created',\n",
    run: [programs.tsc, '--project', 'tsconfig.domain.json'],
  },
  'the line in `src/resources/events.ts`': {
    path: 'src/resources/events.ts',
    piece: /^ {2}'note.created': .*\n/m,
    run: [programs.tsc, '--project', 'tsconfig.domain.json'],
  },
  'the example in `src/webhooks/events/examples.ts`': {
    path: 'src/webhooks/events/examples.ts',
    piece: /^ {4}'note\.created': .*\n/m,
    run: [programs.tsc, '--project', 'tsconfig.notes.json'],
  },
  "the way through `src/`: a route that imports Prisma's client": {
    path: 'routes/api/resources/notes.ts',
    piece: "import Type from 'typebox'\n",
    instead: "import Type from 'typebox'\nimport { Prisma } from '#src/db/generated/client.ts'\n",
    run: [programs.biome, 'lint', '--vcs-enabled=false', 'routes/api/resources/notes.ts'],
  },
  'the import order: a resource that imports a route': {
    path: 'src/resources/notes.ts',
    piece: 'import { publish }',
    instead: "import '#routes/api/account/me.ts'\nimport { publish }",
    run: ['test/architecture.test.ts'],
  },
  'the tenant in a `where`': {
    path: 'src/resources/notes.ts',
    piece: 'where: { tenantId, id } })\n  return row ===',
    instead: 'where: { id } })\n  return row ===',
    run: ['test/access/query-scope-alone.test.ts'],
  },
  'a route in `test/access/matrix/resource-routes.ts`, or a rule in `test/access/matrix/contract.ts`':
    {
      path: 'test/access/matrix/resource-routes.ts',
      piece: /^ {2}'GET \/notes': .*\n/m,
      run: ['test/access/matrix.test.ts'],
    },
  '`npm run generate`': {
    path: 'docs/access.md',
    piece: /^\| note \| delete .*\n/m,
    run: ['test/access/overview.test.ts'],
  },
  // The page does not add it to the snapshot.
  'the snapshot': {
    path: 'tap-snapshots/test/app.test.ts.test.cjs',
    run: ['test/app.test.ts'],
  },
}
