/* IMPORTANT
 * This snapshot file is auto-generated, but designed for humans.
 * It should be checked into source control and tracked carefully.
 * Re-generate by setting TAP_SNAPSHOT=1 and running tests.
 * Make sure to inspect the output below.  Do not ignore changes!
 */
'use strict'
exports[`test/app.test.ts > TAP > the scopes and their guards are the ones that were reviewed > plugins by scope 1`] = `
root
    request-log
    device
    errors
    metrics
    security-headers
    route-access
    openapi
      @fastify/swagger
    limit-store
    database
    queue
    oidc-client
    outbound
    unknown
      rate-limit
        @fastify/rate-limit
      not-found
    open
      assets
      openapi
    browser
      overload
        pressure
          @fastify/under-pressure
      session
        @fastify/cookie
        @fastify/session
      same-origin
      grant-access
      @fastify/formbody
      signIn
        rate-limit
          @fastify/rate-limit
        login
        callback
        signedOut
      signedIn
        api-token
        rate-limit
          @fastify/rate-limit
        authz
        logout
        sessions
        identities
        tokens
        ownAudit
        tenants
        me
        orders
        tenant
          tenant-rls
          posts
          invoices
          users
          invitations
          documents
          folders
          teams
          teamMembers
          tenantAudit
          webhookEndpoints
          webhookEndpointActions
          deliveries
          endpointReplays
          events
          notifications
      people
        rate-limit
          @fastify/rate-limit
        operator
        pages
        home
        identified
          api-token
          authz
          event-stream
          access
          account
          orderPages
          billingEvents
          billingReplays
          billingPages
          members
            tenant-rls
            tenant
            documentPages
            webhooks
            webhookEndpoint
            deliveries
            webhookReplays
    providerLogout
      rate-limit
        @fastify/rate-limit
      logout-token
        @fastify/formbody
      backchannelLogout
    webhooks
      rate-limit
        @fastify/rate-limit
      inbox
      webhook-verify
        fastify-raw-body
      billing
`

exports[`test/app.test.ts > TAP > the scopes and their guards are the ones that were reviewed > routes and the hooks a request passes 1`] = `
└── / (GET)
    • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()"]
    • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    • (onResponse) ["logRequest()"]
    / (HEAD)
    • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()"]
    • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    • (onResponse) ["logRequest()"]
    ├── assets/gatehouse.css (GET)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()"]
    │   • (onResponse) ["logRequest()"]
    │   assets/gatehouse.css (HEAD)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()"]
    │   • (onSend) ["headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()"]
    ├── assets/icon.svg (GET)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()"]
    │   • (onResponse) ["logRequest()"]
    │   assets/icon.svg (HEAD)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()"]
    │   • (onSend) ["headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()"]
    ├── assets/replay-progress.js (GET)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()"]
    │   • (onResponse) ["logRequest()"]
    │   assets/replay-progress.js (HEAD)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()"]
    │   • (onSend) ["headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()"]
    ├── auth/login (GET)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","limitSessionRate()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    ├── auth/logout (POST)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    ├── auth/callback (GET)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","limitSessionRate()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    ├── auth/signed-out (GET)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","limitSessionRate()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    ├── auth/sessions (GET, DELETE)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    │   └── /:id (GET, DELETE)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       • (onResponse) ["logRequest()"]
    ├── auth/identities (GET)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    │   └── /:provider (POST)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       • (onResponse) ["logRequest()"]
    │       └── /:subject (DELETE)
    │           • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()"]
    │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │           • (onResponse) ["logRequest()"]
    ├── auth/tokens (POST, GET)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    │   └── /:id (GET, DELETE)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       • (onResponse) ["logRequest()"]
    ├── auth/audit (GET)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    ├── auth/backchannel-logout/:provider (POST)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","limitRate()","forbidStoring()"]
    │   • (preValidation) ["verifyLogoutToken()"]
    │   • (onResponse) ["logRequest()"]
    ├── audit (GET)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    │   audit (HEAD)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()"]
    ├── app/access (GET)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    │   app/access (HEAD)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()"]
    ├── app/account (GET)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    │   app/account (HEAD)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()"]
    │   ├── /identities/remove (POST)
    │   │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   │   • (onResponse) ["logRequest()"]
    │   ├── /sessions/end (POST)
    │   │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   │   • (onResponse) ["logRequest()"]
    │   │   └── -others (POST)
    │   │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()"]
    │   │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   │       • (onResponse) ["logRequest()"]
    │   └── /tokens (POST)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       • (onResponse) ["logRequest()"]
    │       └── /end (POST)
    │           • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()"]
    │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │           • (onResponse) ["logRequest()"]
    ├── app/orders/:id (GET)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    │   app/orders/:id (HEAD)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()"]
    │   └── /address (POST)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       • (onResponse) ["logRequest()"]
    ├── app/billing (GET)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    │   app/billing (HEAD)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()"]
    │   ├── /replay (POST)
    │   │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   │   • (onResponse) ["logRequest()"]
    │   │   └── s/:id (GET)
    │   │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()"]
    │   │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   │       • (onResponse) ["logRequest()"]
    │   │       s/:id (HEAD)
    │   │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()"]
    │   │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │   │       • (onResponse) ["logRequest()"]
    │   │       └── /events (GET)
    │   │           • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()"]
    │   │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   │           • (onResponse) ["logRequest()"]
    │   └── /:id (GET)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       • (onResponse) ["logRequest()"]
    │       /:id (HEAD)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │       • (onResponse) ["logRequest()"]
    │       └── /replay (POST)
    │           • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()"]
    │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │           • (onResponse) ["logRequest()"]
    ├── app/tenant (GET)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    │   app/tenant (HEAD)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()"]
    │   ├── /members/change (POST)
    │   │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()","requireTenant()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   │   • (onResponse) ["logRequest()"]
    │   ├── /members/remove (POST)
    │   │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()","requireTenant()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   │   • (onResponse) ["logRequest()"]
    │   └── /invitations (POST)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()","requireTenant()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       • (onResponse) ["logRequest()"]
    │       └── /withdraw (POST)
    │           • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()","requireTenant()"]
    │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │           • (onResponse) ["logRequest()"]
    ├── app/documents (GET)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    │   app/documents (HEAD)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()"]
    │   └── /:id (GET)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()","requireTenant()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       • (onResponse) ["logRequest()"]
    │       /:id (HEAD)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()","requireTenant()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │       • (onResponse) ["logRequest()"]
    ├── app/deliveries/:id (GET)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    │   app/deliveries/:id (HEAD)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()"]
    │   └── /replay (POST)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()","requireTenant()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       • (onResponse) ["logRequest()"]
    ├── app/webhooks (GET, POST)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    │   app/webhooks (HEAD)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()"]
    │   └── /:id (GET, POST)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()","requireTenant()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       • (onResponse) ["logRequest()"]
    │       /:id (HEAD)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()","requireTenant()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │       • (onResponse) ["logRequest()"]
    │       ├── /test (POST)
    │       │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()","requireTenant()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       │   • (onResponse) ["logRequest()"]
    │       ├── /rotate (POST)
    │       │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()","requireTenant()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       │   • (onResponse) ["logRequest()"]
    │       ├── /remove (POST)
    │       │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()","requireTenant()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       │   • (onResponse) ["logRequest()"]
    │       ├── /replay (POST)
    │       │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()","requireTenant()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       │   • (onResponse) ["logRequest()"]
    │       │   └── s/:replayId (GET)
    │       │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()","requireTenant()"]
    │       │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       │       • (onResponse) ["logRequest()"]
    │       │       s/:replayId (HEAD)
    │       │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()","requireTenant()"]
    │       │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │       │       • (onResponse) ["logRequest()"]
    │       │       └── /events (GET)
    │       │           • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()","requireTenant()"]
    │       │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       │           • (onResponse) ["logRequest()"]
    │       └── /enable (POST)
    │           • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()","requireTenant()"]
    │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │           • (onResponse) ["logRequest()"]
    ├── openapi.json (GET)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()"]
    │   • (onResponse) ["logRequest()"]
    │   openapi.json (HEAD)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()"]
    │   • (onSend) ["headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()"]
    ├── orders (GET, POST)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    │   orders (HEAD)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()"]
    │   └── /:id (GET, PATCH)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       • (onResponse) ["logRequest()"]
    │       /:id (HEAD)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │       • (onResponse) ["logRequest()"]
    ├── docs (GET)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()"]
    │   • (onResponse) ["logRequest()"]
    │   docs (HEAD)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()"]
    │   • (onSend) ["headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()"]
    ├── documents (GET, POST)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    │   documents (HEAD)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()"]
    │   └── /:id (GET, PATCH)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       • (onResponse) ["logRequest()"]
    │       /:id (HEAD)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │       • (onResponse) ["logRequest()"]
    ├── deliveries/:id (GET)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    │   deliveries/:id (HEAD)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()"]
    │   └── /replay (POST)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       • (onResponse) ["logRequest()"]
    ├── tenants (GET)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    │   tenants (HEAD)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()"]
    ├── teams (GET, POST)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    │   teams (HEAD)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()"]
    │   └── /:id (GET, PATCH, DELETE)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       • (onResponse) ["logRequest()"]
    │       /:id (HEAD)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │       • (onResponse) ["logRequest()"]
    │       └── /members (GET)
    │           • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │           • (onResponse) ["logRequest()"]
    │           /members (HEAD)
    │           • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │           • (onResponse) ["logRequest()"]
    │           └── /:userId (GET, PUT, DELETE)
    │               • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │               • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │               • (onResponse) ["logRequest()"]
    │               /:userId (HEAD)
    │               • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │               • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │               • (onResponse) ["logRequest()"]
    ├── session/tenant (POST)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    ├── me (GET)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    │   me (HEAD)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()"]
    ├── posts (GET, POST)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    │   posts (HEAD)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()"]
    │   └── /:id (GET, PATCH, DELETE)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       • (onResponse) ["logRequest()"]
    │       /:id (HEAD)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │       • (onResponse) ["logRequest()"]
    ├── invoices (GET)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    │   invoices (HEAD)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()"]
    │   └── /:id (GET)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       • (onResponse) ["logRequest()"]
    │       /:id (HEAD)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │       • (onResponse) ["logRequest()"]
    ├── invitations (GET)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    │   invitations (HEAD)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()"]
    │   └── /:id (DELETE)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       • (onResponse) ["logRequest()"]
    ├── users (GET, POST)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    │   users (HEAD)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()"]
    │   └── /:id (PATCH, DELETE)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       • (onResponse) ["logRequest()"]
    ├── folders (GET, POST)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    │   folders (HEAD)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()"]
    │   └── /:id (GET, PATCH, DELETE)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       • (onResponse) ["logRequest()"]
    │       /:id (HEAD)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │       • (onResponse) ["logRequest()"]
    ├── webhook-endpoints (POST, GET)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    │   webhook-endpoints (HEAD)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()"]
    │   └── /:id (GET, PATCH, DELETE)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       • (onResponse) ["logRequest()"]
    │       /:id (HEAD)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │       • (onResponse) ["logRequest()"]
    │       ├── /rotate-secret (POST)
    │       │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       │   • (onResponse) ["logRequest()"]
    │       ├── /replay (POST)
    │       │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       │   • (onResponse) ["logRequest()"]
    │       │   └── s/:replayId (GET)
    │       │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │       │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       │       • (onResponse) ["logRequest()"]
    │       │       s/:replayId (HEAD)
    │       │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │       │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │       │       • (onResponse) ["logRequest()"]
    │       ├── /enable (POST)
    │       │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       │   • (onResponse) ["logRequest()"]
    │       ├── /test (POST)
    │       │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       │   • (onResponse) ["logRequest()"]
    │       └── /deliveries (GET)
    │           • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │           • (onResponse) ["logRequest()"]
    │           /deliveries (HEAD)
    │           • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │           • (onResponse) ["logRequest()"]
    ├── webhooks/billing (POST)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","limitRate()"]
    │   • (preParsing) ["refuseEncodedBody()","preparsingRawBody()"]
    │   • (preValidation) ["verifyWebhook()"]
    │   • (onResponse) ["logRequest()","countWebhook()"]
    ├── events (GET)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    │   events (HEAD)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()"]
    ├── notifications (GET)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    │   notifications (HEAD)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","authenticateToken()","limitRate()","requireCaller()","requirePermission()","requireTenant()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()"]
    ├── billing/events (GET)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()"]
    │   billing/events (HEAD)
    │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()"]
    │   ├── /replay (POST)
    │   │   • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   │   • (onResponse) ["logRequest()"]
    │   └── /:id (GET)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       • (onResponse) ["logRequest()"]
    │       /:id (HEAD)
    │       • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │       • (onResponse) ["logRequest()"]
    │       └── /replay (POST)
    │           • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()"]
    │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │           • (onResponse) ["logRequest()"]
    └── billing/replays/:id (GET)
        • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()"]
        • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
        • (onResponse) ["logRequest()"]
        billing/replays/:id (HEAD)
        • (onRequest) ["tellRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","refuseCrossOrigin()","limitRate()","findOperator()","authenticateToken()","requireCaller()","requirePermission()"]
        • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
        • (onResponse) ["logRequest()"]

`
