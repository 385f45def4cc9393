import pg from 'pg'
import { managingRole } from '#src/access/roles.ts'
import type { DemoPerson } from '#src/resources/define-app.ts'
import { app } from '#src/resources/running-app.ts'
import { acme, globex, type Member, members } from './people.ts'

/** The provider name of the demo's identities. */
const provider = 'demo'

/**
 * Inserts the demo's data: two tenants, people in every role, invoices, and the rows of the app.
 * Deterministic; does nothing if the data exists.
 * @returns false if the data exists already
 */
export async function seed(ownerUrl: string, issuer: string): Promise<boolean> {
  const owner = new pg.Client({ connectionString: ownerUrl, connectionTimeoutMillis: 5_000 })
  await owner.connect()
  try {
    await owner.query('BEGIN')
    // Serializes concurrent seeds; the second one finds the data.
    await owner.query('LOCK TABLE oauth_identities IN SHARE ROW EXCLUSIVE MODE')
    const known = await owner.query('SELECT FROM oauth_identities WHERE provider = $1', [provider])
    if (known.rowCount !== 0) return false
    for (const tenant of [acme, globex]) await insertTenant(owner, tenant.id, tenant.name)
    const people: DemoPerson[] = []
    for (const [index, member] of members.entries()) {
      people.push({ ...member, userId: await insertMember(owner, member, index, issuer) })
    }
    const demo = await app.demo?.()
    await demo?.default.seed?.(owner, people, (tenantId, userId) =>
      setScope(owner, tenantId, userId),
    )
    await owner.query('COMMIT')
    return true
  } finally {
    await owner.end()
  }
}

/** Row-level security applies to the owner too, so each row is written in its scope. */
async function setScope(owner: pg.Client, tenantId: string, userId: string | null): Promise<void> {
  await owner.query(`SELECT set_scope('owner', '', $1, $2)`, [userId, tenantId])
}

async function insertTenant(owner: pg.Client, id: string, name: string): Promise<void> {
  await setScope(owner, id, null)
  await owner.query('INSERT INTO tenants (id, name) VALUES ($1, $2)', [id, name])
}

async function insertMember(
  owner: pg.Client,
  member: Member,
  index: number,
  issuer: string,
): Promise<string> {
  const ownTenantId = await ownTenantOf(owner, member, index)
  const { rows } = await owner.query<{ id: string }>(
    `INSERT INTO users (email, name, email_verified, billing_customer, own_tenant_id)
     VALUES ($1, $2, true, $3, $4) RETURNING id`,
    [member.email, member.name, member.billingCustomer, ownTenantId],
  )
  const userId = String(rows[0]?.id)
  await owner.query(
    `INSERT INTO oauth_identities (provider, provider_user_id, user_id, issuer, verified_email)
     VALUES ($1, $2, $3, $4, lower($5))`,
    [provider, member.subject, userId, issuer, member.email],
  )
  if (ownTenantId !== member.tenant.id) {
    await owner.query(
      `INSERT INTO memberships (tenant_id, user_id, role, last_active_at)
       VALUES ($1, $2, $3, now() - interval '1 day')`,
      [ownTenantId, userId, managingRole],
    )
  }
  await owner.query(
    `INSERT INTO memberships (tenant_id, user_id, role, department, last_active_at)
     VALUES ($1, $2, $3, $4, now())`,
    [member.tenant.id, userId, member.role, member.department],
  )
  await setScope(owner, member.tenant.id, userId)
  await insertInvoice(owner, member, index)
  return userId
}

/** An admin's own tenant is the seeded one; everyone else also gets a tenant of their own. */
async function ownTenantOf(owner: pg.Client, member: Member, index: number): Promise<string> {
  if (member.role === managingRole) return member.tenant.id
  const id = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`
  await insertTenant(owner, id, member.name)
  return id
}

async function insertInvoice(owner: pg.Client, member: Member, index: number): Promise<void> {
  if (member.role !== managingRole) return
  await owner.query(
    `INSERT INTO invoices (tenant_id, amount, currency, status) VALUES ($1, $2, 'eur', 'paid')`,
    [member.tenant.id, 4_900 + index * 100],
  )
}
