import { defineApp } from 'gatehouse'

export default defineApp({ name: 'acme', resources: [] })
