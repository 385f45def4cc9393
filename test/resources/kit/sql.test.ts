import t from 'tap'
import { documents } from '#shop/resources/documents.ts'
import { orders } from '#shop/resources/orders.ts'
import { posts } from '#shop/resources/posts.ts'
import { invoices } from '#src/resources/invoices.ts'
import { defineResource, type Resource } from '#src/resources/kit/define.ts'
import { computed } from '#src/resources/kit/fields/computed.ts'
import { id } from '#src/resources/kit/fields/keys/id.ts'
import { owner } from '#src/resources/kit/fields/keys/people.ts'
import { line } from '#src/resources/kit/fields/texts/line.ts'
import { text } from '#src/resources/kit/fields/texts/text.ts'
import { created, updated } from '#src/resources/kit/fields/times/timestamp.ts'
import { sqlOf } from '#src/resources/kit/sql.ts'

/** The statements of a script, each on one line. */
function statementsOf(script: string): string[] {
  return script
    .split(';\n\n')
    .map((statement) => statement.replaceAll(/\s+/g, ' ').trim())
    .filter((statement) => statement !== '')
}

t.test('an owner reaches a row in every tenant and creates it in the current one', (t) => {
  const [user, tenant] = ['(SELECT current_user_id())', '(SELECT current_tenant_id())']
  const kind = '(SELECT current_scope_kind())'
  t.strictSame(statementsOf(sqlOf([orders]).policies), [
    `CREATE POLICY owner_scope ON orders FOR SELECT USING (user_id = ${user})`,
    `CREATE POLICY placed_in_own_tenant ON orders FOR INSERT WITH CHECK (user_id = ${user} AND tenant_id = ${tenant})`,
    `CREATE POLICY owner_change ON orders FOR UPDATE USING (user_id = ${user})`,
    `CREATE POLICY owner_removal ON orders FOR DELETE USING (user_id = ${user})`,
    `CREATE POLICY whole_tenant ON orders FOR SELECT TO CURRENT_USER USING (tenant_id = ${tenant} AND ${kind} IN ('usage', 'tenant-export'))`,
    `CREATE POLICY erasure ON orders TO CURRENT_USER USING (tenant_id = ${tenant} AND ${kind} = 'erasure')`,
  ])
  t.end()
})

t.test(
  'rows of a tenant have one policy for every action, beside who sees them and their words',
  (t) => {
    for (const one of [posts, invoices]) {
      t.equal(
        statementsOf(sqlOf([one]).policies)[0],
        `CREATE POLICY tenant_scope ON ${one.plural} USING (tenant_id = (SELECT current_tenant_id()))`,
      )
    }
    t.strictSame(statementsOf(sqlOf([posts]).policies).slice(1), [
      `CREATE POLICY tenant_scope ON posts_words USING (tenant_id = (SELECT current_tenant_id()))`,
      `CREATE POLICY kept_by_triggers ON posts_words TO CURRENT_USER USING (pg_trigger_depth() > 0)`,
    ])
    t.strictSame(statementsOf(sqlOf([invoices]).policies).slice(1), [
      `CREATE POLICY visible ON invoices AS RESTRICTIVE USING ((SELECT current_scope_kind()) NOT IN ('session', 'token', 'order', 'export') OR (NOT for_managers OR (SELECT is_manager())))`,
    ])
    t.end()
  },
)

t.test('rows in folders are for the members of their team alone', (t) => {
  const tenant = '(SELECT current_tenant_id())'
  const kind = '(SELECT current_scope_kind())'
  t.strictSame(statementsOf(sqlOf([documents]).policies), [
    `CREATE POLICY chain_scope ON documents USING (tenant_id = ${tenant} AND team_id IN ( SELECT m.team_id FROM team_members m WHERE m.tenant_id = ${tenant} AND m.user_id = (SELECT current_user_id())))`,
    `CREATE POLICY whole_tenant ON documents FOR SELECT TO CURRENT_USER USING (tenant_id = ${tenant} AND ${kind} IN ('move', 'usage', 'tenant-export'))`,
    `CREATE POLICY move_to_team ON documents FOR UPDATE TO CURRENT_USER USING (tenant_id = ${tenant} AND ${kind} = 'move')`,
    `CREATE POLICY erasure ON documents TO CURRENT_USER USING (tenant_id = ${tenant} AND ${kind} = 'erasure')`,
  ])
  t.end()
})

t.test('what a tenant creates is counted by its bytes, and services are filled in', (t) => {
  t.strictSame(statementsOf(sqlOf([orders, posts, documents, invoices]).triggers), [
    `SELECT count_table('orders', 'resource', 'octet_length(r.line_items::text) + 1024 + octet_length(r.card_last4)')`,
    'ALTER TABLE posts ALTER COLUMN author_service_id SET DEFAULT current_service_id()',
    `SELECT count_table('posts', 'resource', 'octet_length(r.title) + octet_length(r.body) + coalesce(octet_length(r.department), 0)')`,
    `SELECT count_table('documents', 'resource', 'octet_length(r.title) + octet_length(r.body)')`,
    'CREATE TRIGGER keep_posts_words AFTER INSERT OR UPDATE OR DELETE ON posts FOR EACH ROW EXECUTE FUNCTION keep_posts_words()',
    `SELECT fill_words('posts', 'tenant_id, id', 'r.title', 180)`,
    `SELECT count_table('posts_words', 'resource', '180', '0')`,
  ])
  t.end()
})

t.test('words of a row with an owner count with the row, whatever its owner writes later', (t) => {
  const notes = defineResource('note', {
    plural: 'notes',
    scope: 'owner',
    fields: {
      id: id(),
      userId: owner(),
      title: line(80),
      text: text(5_000),
      createdAt: created(),
      updatedAt: updated(),
    },
    search: ['title', 'text'],
    actions: {
      read: { permission: null, token: 'note:read' },
      create: { permission: null, token: 'note:write', accepts: ['title', 'text'] },
      update: { permission: null, token: 'note:write', accepts: ['title', 'text'] },
    },
  })
  const made = statementsOf(sqlOf([notes]).triggers)
  t.ok(
    made.includes(`SELECT count_table('notes', 'resource', '1024 + 1024 + 1800 + 23040')`),
    'of at most 1,024 characters of each field',
  )
  t.ok(made.includes(`SELECT fill_words('notes', 'tenant_id, id, user_id', 'r.title, r.text', 0)`))
  t.notMatch(made.join(), `count_table('notes_words'`)
  t.end()
})

t.test('an export has the rows of a person by owner, by author and by team', (t) => {
  const rows = sqlOf([orders, posts, documents, invoices]).functions
  t.match(rows, `('orders', 'order', 'owner', 'orders', 'r.user_id = $1', '{"shippingAddress"`)
  t.match(
    rows,
    `('posts', 'post', 'tenant', 'posts', 'r.tenant_id = $2 AND r.author_id = $1', NULL::jsonb)`,
  )
  t.match(rows, `('documents', 'document', 'chain', 'documents', 'r.tenant_id = $2', NULL::jsonb)`)
  t.match(rows, `('invoices', 'invoice', 'tenant', 'invoices', NULL, NULL::jsonb)`)
  t.end()
})

t.test('without a resource there is a table of none', (t) => {
  const { functions, policies, triggers } = sqlOf([])
  t.match(functions, 'FUNCTION declared_tables()')
  t.notMatch(functions, /VALUES\s*\)/)
  t.strictSame([policies, triggers], ['', ''])
  t.end()
})

t.test('a published field of JSON needs what replaces it when its owner is erased', (t) => {
  const { plural, scope, fields, actions, events } = orders as Resource
  t.throws(() => defineResource('order', { plural, scope, fields, actions, events } as never), {
    message:
      'The resource order publishes lineItems and does not say what replaces it when its owner is erased (erased).',
  })
  t.end()
})

t.test('what is computed from an owner’s values is counted, and erased with them', (t) => {
  const memo = defineResource('memo', {
    plural: 'memos',
    scope: 'owner',
    fields: {
      ...{ id: id(), userId: owner(), title: line(99) },
      label: computed(line(99), ({ title }) => `'memo ' || ${title}`),
      ...{ createdAt: created(), updatedAt: updated() },
    },
    actions: {
      read: { permission: null, token: 'memo:read' },
      create: { permission: null, token: 'memo:write', accepts: ['title'] },
      update: { permission: null, token: 'memo:write', accepts: ['title'] },
    },
    events: { updated: 'A memo was changed' },
  })
  const { functions, triggers } = sqlOf([memo])
  t.match(functions, `'{"title":"erased","label":"erased"}'`)
  t.match(triggers, "'1024 + 1024'")
  t.end()
})
