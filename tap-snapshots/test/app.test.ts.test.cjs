/* IMPORTANT
 * This snapshot file is auto-generated, but designed for humans.
 * It should be checked into source control and tracked carefully.
 * Re-generate by setting TAP_SNAPSHOT=1 and running tests.
 * Make sure to inspect the output below.  Do not ignore changes!
 */
'use strict'
exports[`test/app.test.ts > TAP > the scopes and their guards match the reviewed snapshot > plugins by scope 1`] = `
root
    schema-compilers
    tracing
    request-log
    graceful-shutdown
    client-info
    branding
    errors
    metrics
    connection-limit
    security-headers
    allowed-methods
    cors
    preconditions
    compression
    page-links
    require-access
    strict-requests
    idempotency
    openapi
      @fastify/swagger
    rate-limit-store
    database
    refusals
    queue
    oidc-client
    webhook-client
    unknown
      rate-limit
        @fastify/rate-limit
      not-found
    open
      assets
    reference
      rate-limit
        @fastify/rate-limit
      openapi
    browser
      under-pressure
        pressure
          @fastify/under-pressure
      credential
      session
        @fastify/cookie
        @fastify/session
      csrf
      erasure
      sign-in-return
      provider-tokens
      @fastify/formbody
      pages
      signIn
        rate-limit
          @fastify/rate-limit
        login
        callback
        signedOut
      welcome
        rate-limit
          @fastify/rate-limit
        home
        design
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
        account
        tenants
        me
        ownInvitations
        orders
        tenant
          tenant-rls
          posts
          invoices
          users
          tenantDeletion
          invitations
          documents
          folders
          teams
          teamMembers
          tenantAudit
          serviceTokens
          webhookEndpoints
          webhookEndpointActions
          deliveries
          endpointReplays
          events
          notifications
          usage
      people
        api-token
        rate-limit
          @fastify/rate-limit
        authz
        event-stream
        access
        account
        invitations
        orders
        billingEvents
        billingReplays
        billingReconciliations
        billingCustomers
        operations
        billing
        billingCustomers
        members
          tenant-rls
          tenant
          posts
          documents
          invoices
          teams
          events
          audit
          serviceTokens
          webhooks
          webhookEndpoint
          deliveries
          webhookReplays
    providerLogout
      rate-limit
        @fastify/rate-limit
      backchannel-logout
        @fastify/formbody
      backchannelLogout
    webhooks
      rate-limit
        @fastify/rate-limit
      billing-recorder
      webhook-verify
        fastify-raw-body
      billing
`

exports[`test/app.test.ts > TAP > the scopes and their guards match the reviewed snapshot > routes and the hooks a request passes 1`] = `
└── / (GET)
    • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","refuseAddress()","limitRate()"]
    • (preParsing) ["refuseFault()"]
    • (preSerialization) ["linkPages()"]
    • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()"]
    • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    • (onError) ["countRefusal()"]
    / (HEAD)
    • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","refuseAddress()","limitRate()"]
    • (preParsing) ["refuseFault()"]
    • (preSerialization) ["linkPages()"]
    • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    • (onError) ["countRefusal()"]
    ├── assets/gatehouse.css (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()"]
    │   • (onResponse) ["logRequest()","countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   assets/gatehouse.css (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── assets/gatehouse.js (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()"]
    │   • (onResponse) ["logRequest()","countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   assets/gatehouse.js (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── assets/icon.svg (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()"]
    │   • (onResponse) ["logRequest()","countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   assets/icon.svg (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── auth/login (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","limitRate()","limitSessionRate()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()","countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── auth/logout (POST)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfNoneMatch()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    ├── auth/callback (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","limitRate()","limitSessionRate()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()","countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── auth/signed-out (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","limitRate()","limitSessionRate()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()","countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── auth/sessions (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   auth/sessions (DELETE)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfNoneMatch()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (DELETE)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfNoneMatch()","refuseIfMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    ├── auth/identities (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:provider (POST)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfNoneMatch()","refuseIfMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       └── /:subject (DELETE)
    │           • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │           • (preParsing) ["refuseFault()","refuseForm()"]
    │           • (preSerialization) ["linkPages()"]
    │           • (preHandler) ["refuseKey()","refuseIfNoneMatch()","refuseIfMatch()"]
    │           • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │           • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │           • (onError) ["countRefusal()"]
    ├── auth/tokens (POST)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseIfNoneMatch()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   auth/tokens (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (DELETE)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfNoneMatch()","refuseIfMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    ├── auth/audit (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    ├── auth/account/export (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    ├── auth/account/delete (POST)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfNoneMatch()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    ├── auth/backchannel-logout/:provider (POST)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","limitRate()"]
    │   • (preValidation) ["verifyLogoutToken()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()"]
    │   • (onResponse) ["logRequest()","countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── audit (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   audit (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    ├── app/design (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","refuseAddress()","limitRate()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   app/design (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","refuseAddress()","limitRate()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    ├── app/deliveries/:id (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   app/deliveries/:id (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   ├── /replay (POST)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   │   • (preParsing) ["refuseFault()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   │   • (onError) ["countRefusal()"]
    │   └── /check (POST)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    ├── app/documents (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   app/documents (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET, POST)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    ├── app/access (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   app/access (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    ├── app/account (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   app/account (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   ├── /identities/remove (POST)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   │   • (preParsing) ["refuseFault()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   │   • (onError) ["countRefusal()"]
    │   ├── /sessions/end (POST)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   │   • (preParsing) ["refuseFault()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   └── -others (POST)
    │   │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   │       • (preParsing) ["refuseFault()"]
    │   │       • (preSerialization) ["linkPages()"]
    │   │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   │       • (onError) ["countRefusal()"]
    │   ├── /tokens (POST)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   │   • (preParsing) ["refuseFault()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   └── /end (POST)
    │   │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   │       • (preParsing) ["refuseFault()"]
    │   │       • (preSerialization) ["linkPages()"]
    │   │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   │       • (onError) ["countRefusal()"]
    │   ├── /tenants/switch (POST)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   │   • (preParsing) ["refuseFault()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   │   • (onError) ["countRefusal()"]
    │   ├── /tenants/leave (POST)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   │   • (preParsing) ["refuseFault()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   │   • (onError) ["countRefusal()"]
    │   └── /delete (POST)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    ├── app/audit (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   app/audit (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   └── /export (GET)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       /export (HEAD)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    ├── app/invitations/:id (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   app/invitations/:id (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    ├── app/invoices (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   app/invoices (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    ├── app/orders (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   app/orders (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       └── /address (POST)
    │           • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │           • (preParsing) ["refuseFault()"]
    │           • (preSerialization) ["linkPages()"]
    │           • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │           • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │           • (onError) ["countRefusal()"]
    ├── app/operations (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   app/operations (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    ├── app/billing (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   app/billing (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   ├── /replay (POST)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   │   • (preParsing) ["refuseFault()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   └── s/:id (GET)
    │   │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   │       • (preParsing) ["refuseFault()"]
    │   │       • (preSerialization) ["linkPages()"]
    │   │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   │       • (onError) ["countRefusal()"]
    │   │       s/:id (HEAD)
    │   │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   │       • (preParsing) ["refuseFault()"]
    │   │       • (preSerialization) ["linkPages()"]
    │   │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   │       • (onError) ["countRefusal()"]
    │   │       └── /events (GET)
    │   │           • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   │           • (preParsing) ["refuseFault()"]
    │   │           • (preSerialization) ["linkPages()"]
    │   │           • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │           • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   │           • (onError) ["countRefusal()"]
    │   ├── /customers (GET, POST)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   │   • (preParsing) ["refuseFault()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /customers (HEAD)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   │   • (preParsing) ["refuseFault()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   └── /unlink (POST)
    │   │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   │       • (preParsing) ["refuseFault()"]
    │   │       • (preSerialization) ["linkPages()"]
    │   │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   │       • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       ├── /replay (POST)
    │       │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       │   • (preParsing) ["refuseFault()"]
    │       │   • (preSerialization) ["linkPages()"]
    │       │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       │   • (onError) ["countRefusal()"]
    │       └── /dismiss (POST)
    │           • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │           • (preParsing) ["refuseFault()"]
    │           • (preSerialization) ["linkPages()"]
    │           • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │           • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │           • (onError) ["countRefusal()"]
    ├── app/tenant (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   app/tenant (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   ├── /members/change (POST)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   │   • (preParsing) ["refuseFault()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   │   • (onError) ["countRefusal()"]
    │   ├── /members/remove (POST)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   │   • (preParsing) ["refuseFault()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   │   • (onError) ["countRefusal()"]
    │   ├── /invitations (POST)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   │   • (preParsing) ["refuseFault()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   └── /withdraw (POST)
    │   │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   │       • (preParsing) ["refuseFault()"]
    │   │       • (preSerialization) ["linkPages()"]
    │   │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   │       • (onError) ["countRefusal()"]
    │   └── /delete (POST)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    ├── app/teams (GET, POST)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   app/teams (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   ├── /:id/delete (POST)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   │   • (preParsing) ["refuseFault()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   │   • (onError) ["countRefusal()"]
    │   ├── /:id/members (POST)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   │   • (preParsing) ["refuseFault()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   └── /remove (POST)
    │   │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   │       • (preParsing) ["refuseFault()"]
    │   │       • (preSerialization) ["linkPages()"]
    │   │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   │       • (onError) ["countRefusal()"]
    │   └── /:id/folders (POST)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    ├── app/posts (GET, POST)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   app/posts (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET, POST)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       └── /delete (POST)
    │           • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │           • (preParsing) ["refuseFault()"]
    │           • (preSerialization) ["linkPages()"]
    │           • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │           • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │           • (onError) ["countRefusal()"]
    ├── app/folders/:id/delete (POST)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    ├── app/events (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   app/events (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    ├── app/service-tokens (GET, POST)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   app/service-tokens (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   ├── /rotate (POST)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   │   • (preParsing) ["refuseFault()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   │   • (onError) ["countRefusal()"]
    │   └── /remove (POST)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    ├── app/webhooks (GET, POST)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   app/webhooks (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET, POST)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       ├── /deliveries/events (GET)
    │       │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       │   • (preParsing) ["refuseFault()"]
    │       │   • (preSerialization) ["linkPages()"]
    │       │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       │   • (onError) ["countRefusal()"]
    │       ├── /test (POST)
    │       │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       │   • (preParsing) ["refuseFault()"]
    │       │   • (preSerialization) ["linkPages()"]
    │       │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       │   • (onError) ["countRefusal()"]
    │       ├── /probe (POST)
    │       │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       │   • (preParsing) ["refuseFault()"]
    │       │   • (preSerialization) ["linkPages()"]
    │       │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       │   • (onError) ["countRefusal()"]
    │       ├── /rotate (POST)
    │       │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       │   • (preParsing) ["refuseFault()"]
    │       │   • (preSerialization) ["linkPages()"]
    │       │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       │   • (onError) ["countRefusal()"]
    │       ├── /remove (POST)
    │       │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       │   • (preParsing) ["refuseFault()"]
    │       │   • (preSerialization) ["linkPages()"]
    │       │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       │   • (onError) ["countRefusal()"]
    │       ├── /replays (POST)
    │       │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       │   • (preParsing) ["refuseFault()"]
    │       │   • (preSerialization) ["linkPages()"]
    │       │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       │   • (onError) ["countRefusal()"]
    │       │   ├── /new (GET)
    │       │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       │   │   • (preParsing) ["refuseFault()"]
    │       │   │   • (preSerialization) ["linkPages()"]
    │       │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       │   │   • (onError) ["countRefusal()"]
    │       │   │   /new (HEAD)
    │       │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       │   │   • (preParsing) ["refuseFault()"]
    │       │   │   • (preSerialization) ["linkPages()"]
    │       │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       │   │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       │   │   • (onError) ["countRefusal()"]
    │       │   └── /:replayId (GET)
    │       │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       │       • (preParsing) ["refuseFault()"]
    │       │       • (preSerialization) ["linkPages()"]
    │       │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       │       • (onError) ["countRefusal()"]
    │       │       /:replayId (HEAD)
    │       │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       │       • (preParsing) ["refuseFault()"]
    │       │       • (preSerialization) ["linkPages()"]
    │       │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       │       • (onError) ["countRefusal()"]
    │       │       ├── /events (GET)
    │       │       │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       │       │   • (preParsing) ["refuseFault()"]
    │       │       │   • (preSerialization) ["linkPages()"]
    │       │       │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │       │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       │       │   • (onError) ["countRefusal()"]
    │       │       └── /cancel (POST)
    │       │           • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       │           • (preParsing) ["refuseFault()"]
    │       │           • (preSerialization) ["linkPages()"]
    │       │           • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │           • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       │           • (onError) ["countRefusal()"]
    │       └── /enable (POST)
    │           • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │           • (preParsing) ["refuseFault()"]
    │           • (preSerialization) ["linkPages()"]
    │           • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │           • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │           • (onError) ["countRefusal()"]
    ├── openapi.json (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","limitRate()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()"]
    │   • (onResponse) ["logRequest()","countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   openapi.json (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","limitRate()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── orders (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   orders (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   orders (POST)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseIfNoneMatch()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (PATCH)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfNoneMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    ├── docs (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","limitRate()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()"]
    │   • (onResponse) ["logRequest()","countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   docs (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","limitRate()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   ├── /plain (GET)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","limitRate()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()"]
    │   │   • (onResponse) ["logRequest()","countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /plain (HEAD)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","limitRate()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","headRouteOnSendHandler()"]
    │   │   • (onResponse) ["logRequest()","countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   ├── /guide (GET)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","limitRate()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()"]
    │   │   • (onResponse) ["logRequest()","countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /guide (HEAD)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","limitRate()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","headRouteOnSendHandler()"]
    │   │   • (onResponse) ["logRequest()","countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   ├── /events (GET)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","limitRate()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()"]
    │   │   • (onResponse) ["logRequest()","countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /events (HEAD)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","limitRate()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","headRouteOnSendHandler()"]
    │   │   • (onResponse) ["logRequest()","countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   ├── /errors (GET)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","limitRate()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()"]
    │   │   • (onResponse) ["logRequest()","countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /errors (HEAD)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","limitRate()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","headRouteOnSendHandler()"]
    │   │   • (onResponse) ["logRequest()","countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   └── /:code (GET)
    │   │       • (onRequest) ["setRequestId()","setSecurityHeaders()","limitRate()"]
    │   │       • (preSerialization) ["linkPages()"]
    │   │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()"]
    │   │       • (onResponse) ["logRequest()","countRequest()"]
    │   │       • (onError) ["countRefusal()"]
    │   │       /:code (HEAD)
    │   │       • (onRequest) ["setRequestId()","setSecurityHeaders()","limitRate()"]
    │   │       • (preSerialization) ["linkPages()"]
    │   │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","headRouteOnSendHandler()"]
    │   │       • (onResponse) ["logRequest()","countRequest()"]
    │   │       • (onError) ["countRefusal()"]
    │   ├── /changelog (GET)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","limitRate()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()"]
    │   │   • (onResponse) ["logRequest()","countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /changelog (HEAD)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","limitRate()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","headRouteOnSendHandler()"]
    │   │   • (onResponse) ["logRequest()","countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   ├── /assets/scalar.js (GET)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","limitRate()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()"]
    │   │   • (onResponse) ["logRequest()","countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /assets/scalar.js (HEAD)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","limitRate()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","headRouteOnSendHandler()"]
    │   │   • (onResponse) ["logRequest()","countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   ├── /assets/scalar.css (GET)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","limitRate()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()"]
    │   │   • (onResponse) ["logRequest()","countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /assets/scalar.css (HEAD)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","limitRate()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","headRouteOnSendHandler()"]
    │   │   • (onResponse) ["logRequest()","countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   ├── /assets/viewer.js (GET)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","limitRate()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()"]
    │   │   • (onResponse) ["logRequest()","countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /assets/viewer.js (HEAD)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","limitRate()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","headRouteOnSendHandler()"]
    │   │   • (onResponse) ["logRequest()","countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   └── /assets/viewer.css (GET)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","limitRate()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()"]
    │       • (onResponse) ["logRequest()","countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /assets/viewer.css (HEAD)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","limitRate()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","headRouteOnSendHandler()"]
    │       • (onResponse) ["logRequest()","countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── documents (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   documents (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   documents (POST)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseIfNoneMatch()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (PATCH)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfNoneMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    ├── deliveries/:id (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   deliveries/:id (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   └── /replay (POST)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseIfNoneMatch()","refuseIfMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    ├── tenants (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   tenants (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id/membership (DELETE)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfNoneMatch()","refuseIfMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    ├── teams (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   teams (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   teams (POST)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseIfNoneMatch()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (PATCH, DELETE)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfNoneMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       └── /members (GET)
    │           • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │           • (preParsing) ["refuseFault()","refuseForm()"]
    │           • (preSerialization) ["linkPages()"]
    │           • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │           • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │           • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │           • (onError) ["countRefusal()"]
    │           /members (HEAD)
    │           • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │           • (preParsing) ["refuseFault()","refuseForm()"]
    │           • (preSerialization) ["linkPages()"]
    │           • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │           • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │           • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │           • (onError) ["countRefusal()"]
    │           └── /:userId (GET)
    │               • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │               • (preParsing) ["refuseFault()","refuseForm()"]
    │               • (preSerialization) ["linkPages()"]
    │               • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │               • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │               • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │               • (onError) ["countRefusal()"]
    │               /:userId (HEAD)
    │               • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │               • (preParsing) ["refuseFault()","refuseForm()"]
    │               • (preSerialization) ["linkPages()"]
    │               • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │               • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │               • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │               • (onError) ["countRefusal()"]
    │               /:userId (PUT, DELETE)
    │               • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │               • (preParsing) ["refuseFault()","refuseForm()"]
    │               • (preSerialization) ["linkPages()"]
    │               • (preHandler) ["refuseKey()","refuseIfNoneMatch()","refuseIfMatch()"]
    │               • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │               • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │               • (onError) ["countRefusal()"]
    ├── session/tenant (POST)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfNoneMatch()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   └── /delete (POST)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfNoneMatch()","refuseIfMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    ├── service-tokens (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   service-tokens (POST)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseIfNoneMatch()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (PATCH, DELETE)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfNoneMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       └── /rotate-secret (POST)
    │           • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │           • (preParsing) ["refuseFault()","refuseForm()"]
    │           • (preSerialization) ["linkPages()"]
    │           • (preHandler) ["refuseIfNoneMatch()","refuseIfMatch()"]
    │           • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │           • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │           • (onError) ["countRefusal()"]
    ├── me (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   me (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    ├── invitations (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   invitations (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (DELETE)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfNoneMatch()","refuseIfMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       ├── /accept (POST)
    │       │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       │   • (preParsing) ["refuseFault()"]
    │       │   • (preSerialization) ["linkPages()"]
    │       │   • (preHandler) ["refuseKey()","refuseIfNoneMatch()","refuseIfMatch()"]
    │       │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       │   • (onError) ["countRefusal()"]
    │       └── /decline (POST)
    │           • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │           • (preParsing) ["refuseFault()"]
    │           • (preSerialization) ["linkPages()"]
    │           • (preHandler) ["refuseKey()","refuseIfNoneMatch()","refuseIfMatch()"]
    │           • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │           • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │           • (onError) ["countRefusal()"]
    ├── invoices (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   invoices (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    ├── posts (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   posts (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   posts (POST)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseIfNoneMatch()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (PATCH, DELETE)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfNoneMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    ├── users (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   users (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   users (POST)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseIfNoneMatch()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (PATCH, DELETE)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfNoneMatch()","refuseIfMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    ├── usage (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   usage (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    ├── folders (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   folders (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   folders (POST)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseIfNoneMatch()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (PATCH, DELETE)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfNoneMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    ├── webhook-endpoints (POST)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseIfNoneMatch()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   webhook-endpoints (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   webhook-endpoints (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (PATCH, DELETE)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfNoneMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       ├── /rotate-secret (POST)
    │       │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       │   • (preParsing) ["refuseFault()","refuseForm()"]
    │       │   • (preSerialization) ["linkPages()"]
    │       │   • (preHandler) ["refuseIfNoneMatch()","refuseIfMatch()"]
    │       │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │       │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       │   • (onError) ["countRefusal()"]
    │       ├── /replay (POST)
    │       │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       │   • (preParsing) ["refuseFault()","refuseForm()"]
    │       │   • (preSerialization) ["linkPages()"]
    │       │   • (preHandler) ["refuseIfNoneMatch()","refuseIfMatch()"]
    │       │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │       │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       │   • (onError) ["countRefusal()"]
    │       │   └── s/:replayId (GET)
    │       │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       │       • (preSerialization) ["linkPages()"]
    │       │       • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │       │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       │       • (onError) ["countRefusal()"]
    │       │       s/:replayId (HEAD)
    │       │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       │       • (preSerialization) ["linkPages()"]
    │       │       • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │       │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       │       • (onError) ["countRefusal()"]
    │       │       └── /cancel (POST)
    │       │           • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       │           • (preParsing) ["refuseFault()","refuseForm()"]
    │       │           • (preSerialization) ["linkPages()"]
    │       │           • (preHandler) ["refuseIfNoneMatch()","refuseIfMatch()"]
    │       │           • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │       │           • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       │           • (onError) ["countRefusal()"]
    │       ├── /enable (POST)
    │       │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       │   • (preParsing) ["refuseFault()","refuseForm()"]
    │       │   • (preSerialization) ["linkPages()"]
    │       │   • (preHandler) ["refuseKey()","refuseIfNoneMatch()","refuseIfMatch()"]
    │       │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       │   • (onError) ["countRefusal()"]
    │       ├── /test (POST)
    │       │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       │   • (preParsing) ["refuseFault()","refuseForm()"]
    │       │   • (preSerialization) ["linkPages()"]
    │       │   • (preHandler) ["refuseKey()","refuseIfNoneMatch()","refuseIfMatch()"]
    │       │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       │   • (onError) ["countRefusal()"]
    │       ├── /probe (POST)
    │       │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       │   • (preParsing) ["refuseFault()","refuseForm()"]
    │       │   • (preSerialization) ["linkPages()"]
    │       │   • (preHandler) ["refuseKey()","refuseIfNoneMatch()","refuseIfMatch()"]
    │       │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       │   • (onError) ["countRefusal()"]
    │       │   /probe (GET)
    │       │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       │   • (preParsing) ["refuseFault()","refuseForm()"]
    │       │   • (preSerialization) ["linkPages()"]
    │       │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │       │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       │   • (onError) ["countRefusal()"]
    │       │   /probe (HEAD)
    │       │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       │   • (preParsing) ["refuseFault()","refuseForm()"]
    │       │   • (preSerialization) ["linkPages()"]
    │       │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │       │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       │   • (onError) ["countRefusal()"]
    │       └── /deliveries (GET)
    │           • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │           • (preParsing) ["refuseFault()","refuseForm()"]
    │           • (preSerialization) ["linkPages()"]
    │           • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │           • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │           • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │           • (onError) ["countRefusal()"]
    │           /deliveries (HEAD)
    │           • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │           • (preParsing) ["refuseFault()","refuseForm()"]
    │           • (preSerialization) ["linkPages()"]
    │           • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │           • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │           • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │           • (onError) ["countRefusal()"]
    │           └── /count (GET)
    │               • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │               • (preParsing) ["refuseFault()","refuseForm()"]
    │               • (preSerialization) ["linkPages()"]
    │               • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │               • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │               • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │               • (onError) ["countRefusal()"]
    │               /count (HEAD)
    │               • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │               • (preParsing) ["refuseFault()","refuseForm()"]
    │               • (preSerialization) ["linkPages()"]
    │               • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │               • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │               • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │               • (onError) ["countRefusal()"]
    ├── webhooks/billing (POST)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","limitRate()"]
    │   • (preParsing) ["refuseEncodedBody()","countBody()","preparsingRawBody()"]
    │   • (preValidation) ["verifyWebhook()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()"]
    │   • (onResponse) ["logRequest()","countRequest()","countWebhook()"]
    │   • (onError) ["countRefusal()"]
    ├── events (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   events (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    ├── notifications (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   notifications (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    ├── billing/events (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   billing/events (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   ├── /replay (POST)
    │   │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   │   • (preSerialization) ["linkPages()"]
    │   │   • (preHandler) ["refuseIfNoneMatch()","refuseIfMatch()"]
    │   │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │   │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       ├── /dismiss (POST)
    │       │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       │   • (preParsing) ["refuseFault()","refuseForm()"]
    │       │   • (preSerialization) ["linkPages()"]
    │       │   • (preHandler) ["refuseKey()","refuseIfNoneMatch()","refuseIfMatch()"]
    │       │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       │   • (onError) ["countRefusal()"]
    │       └── /replay (POST)
    │           • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │           • (preParsing) ["refuseFault()","refuseForm()"]
    │           • (preSerialization) ["linkPages()"]
    │           • (preHandler) ["refuseIfNoneMatch()","refuseIfMatch()"]
    │           • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │           • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │           • (onError) ["countRefusal()"]
    ├── billing/replays/:id (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   billing/replays/:id (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    ├── billing/reconciliations (POST)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseIfNoneMatch()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   billing/reconciliations (GET)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   billing/reconciliations (HEAD)
    │   • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │   • (preParsing) ["refuseFault()","refuseForm()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │   • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
    │       • (preParsing) ["refuseFault()","refuseForm()"]
    │       • (preSerialization) ["linkPages()"]
    │       • (preHandler) ["refuseKey()","refuseIfMatch()"]
    │       • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
    │       • (onError) ["countRefusal()"]
    └── billing/customers (GET)
        • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
        • (preParsing) ["refuseFault()","refuseForm()"]
        • (preSerialization) ["linkPages()"]
        • (preHandler) ["refuseKey()","refuseIfMatch()"]
        • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
        • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
        • (onError) ["countRefusal()"]
        billing/customers (HEAD)
        • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
        • (preParsing) ["refuseFault()","refuseForm()"]
        • (preSerialization) ["linkPages()"]
        • (preHandler) ["refuseKey()","refuseIfMatch()"]
        • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
        • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
        • (onError) ["countRefusal()"]
        └── /:customer (PUT)
            • (onRequest) ["setRequestId()","setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","ignoreDoubledCookie()","handleSession()","readSessionCredential()","rejectCrossOrigin()","readTokenCredential()","refuseAddress()","limitRate()","requireIdentity()"]
            • (preParsing) ["refuseFault()","refuseForm()"]
            • (preSerialization) ["linkPages()"]
            • (preHandler) ["refuseKey()","refuseIfNoneMatch()","refuseIfMatch()"]
            • (onSend) ["setConnectionClose()","tagResponse()","compressJson()","fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
            • (onResponse) ["logRequest()","countRequest()","countDeadCredential()"]
            • (onError) ["countRefusal()"]

`
