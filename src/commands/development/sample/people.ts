import { leastRole, managingRole, roles } from '#src/access/roles.ts'

/** A person who can sign in at the local provider. `note` is shown in its list of people. */
export type Person = { subject: string; name: string; email: string; note: string }

export type DemoTenant = { id: string; name: string }

/** A person whom the seed makes a member of a tenant. */
export type Member = Person & {
  tenant: DemoTenant
  role: string
  department: string | null
  billingCustomer: string
}

export const acme: DemoTenant = { id: '0a0c3e5d-6a1f-4c52-9b1e-5d2f7c8a9b01', name: 'Acme' }
export const globex: DemoTenant = { id: '61b0be81-7f3d-4e0a-8c46-1e9d3a5b7c02', name: 'Globex' }

/** The role after the least one: in most apps its people write. */
const writingRole = roles.find((role) => role !== leastRole && role !== managingRole) ?? leastRole

/** The demo's people, in display order. Addresses use the reserved domain `.example`. */
export const members: readonly Member[] = [
  {
    subject: 'ada',
    name: 'Ada Okafor',
    email: 'ada@acme.example',
    tenant: acme,
    role: managingRole,
    department: null,
    billingCustomer: 'cus_ada',
    note: `${managingRole} of Acme`,
  },
  {
    subject: 'ed',
    name: 'Ed Larsen',
    email: 'ed@acme.example',
    tenant: acme,
    role: writingRole,
    department: 'engineering',
    billingCustomer: 'cus_ed',
    note: `${writingRole} of Acme, engineering`,
  },
  {
    subject: 'vera',
    name: 'Vera Lindt',
    email: 'vera@acme.example',
    tenant: acme,
    role: leastRole,
    department: null,
    billingCustomer: 'cus_vera',
    note: `${leastRole} of Acme`,
  },
  {
    subject: 'grace',
    name: 'Grace Moreau',
    email: 'grace@globex.example',
    tenant: globex,
    role: managingRole,
    department: null,
    billingCustomer: 'cus_grace',
    note: `${managingRole} of Globex`,
  },
  {
    subject: 'otto',
    name: 'Otto Brandt',
    email: 'otto@globex.example',
    tenant: globex,
    role: writingRole,
    department: 'sales',
    billingCustomer: 'cus_otto',
    note: `${writingRole} of Globex, sales`,
  },
]

/** Not seeded, to demonstrate a first sign-in. */
export const newcomer: Person = {
  subject: 'nia',
  name: 'Nia Castell',
  email: 'nia@newcomer.example',
  note: 'has no account yet',
}

/** Everyone at the second local provider; none of them is seeded. */
export const strangers: readonly Person[] = [
  {
    subject: 'sam',
    name: 'Sam Rivers',
    email: 'sam@post.example',
    note: 'has no account yet',
  },
  {
    subject: 'ada.private',
    name: 'Ada Okafor',
    email: 'ada@home.example',
    note: 'Ada’s private identity, to add on her account page',
  },
]

/** Everyone who can sign in at the local provider. */
export const people: readonly Person[] = [...members, newcomer]
