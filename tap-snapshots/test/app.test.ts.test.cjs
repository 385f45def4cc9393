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
    graceful-shutdown
    client-info
    branding
    errors
    metrics
    parser-answers
    connection-limit
    security-headers
    allowed-methods
    cors
    preconditions
    compression
    list-turns
    page-links
    require-access
    request-body
    idempotency
    actions
    strict-requests
    openapi
      @fastify/swagger
    rate-limit-store
    database
    refusals
    queue
    oidc-client
    customer-urls
    schema-checks
    open
      assets
    reference
      rate-limit
        @fastify/rate-limit
      openapi
      jwks
    browser
      under-pressure
        pressure
          @fastify/under-pressure
      session
        @fastify/cookie
        @fastify/session
      credential
      erasure
      sign-in-return
      provider-tokens
      @fastify/formbody
      pages
      forms
      unknown
        rate-limit
          @fastify/rate-limit
        not-found
      signIn
        rate-limit
          @fastify/rate-limit
        oauth2ProxyStart
        login
        callback
        signedOut
      welcome
        rate-limit
          @fastify/rate-limit
        home
        invitationLink
        design
      forwardAuth
        forwarded-request
        rate-limit
          @fastify/rate-limit
        authz
        verify
        oauth2Proxy
      appCalls
        rate-limit
          @fastify/rate-limit
        authz
        tenant-rls
        eventTypes
        publish
        portalLinks
        tenantMembers
        tenantWebhookEndpoints
      signedIn
        app-origins
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
        declared
        tenant
          tenant-rls
          declared
          users
          tenantDeletion
          tenantName
          invitations
          folders
          teams
          teamMembers
          tenantAudit
          serviceTokens
          webhookEndpoints
          deliveries
          endpointReplays
          events
          notifications
          usage
      people
        rate-limit
          @fastify/rate-limit
        authz
        event-stream
        access
        go
        account
        tokens
        commandLine
        invitations
        declared
        orders
        plan
        billingEvents
        billingReplays
        billingReconciliations
        billingCustomers
        appTokens
        operations
        billing
        billingCustomers
        unlinked
        programTokens
        payments
          app-origins
          checkout
        members
          tenant-rls
          tenant
          welcome
          declared
          invoices
          teams
          audit
          programTokens
          webhooks
          endpointDeliveries
          webhookEndpoint
          deliveries
          webhookReplays
          events
          eventTypes
      portal
        portal-session
        opening
          rate-limit
            @fastify/rate-limit
          openPortal
        customers
          rate-limit
            @fastify/rate-limit
          authz
          event-stream
          tenant-rls
          webhooks
          endpointDeliveries
          webhookEndpoint
          deliveries
          webhookReplays
          events
          eventTypes
    formPost
      rate-limit
        @fastify/rate-limit
      @fastify/formbody
      callbackForm
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
    • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()"]
    • (preParsing) ["refuseFault()"]
    • (preValidation) ["readDraft()"]
    • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    • (onResponse) ["countRequest()"]
    • (onError) ["countRefusal()"]
    / (HEAD)
    • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()"]
    • (preParsing) ["refuseFault()"]
    • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    • (onResponse) ["countRequest()"]
    • (onError) ["countRefusal()"]
    ├── assets/gatehouse.css (GET)
    │   • (onRequest) ["setSecurityHeaders()"]
    │   • (preValidation) ["dropUnknownParameters()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   assets/gatehouse.css (HEAD)
    │   • (onRequest) ["setSecurityHeaders()"]
    │   • (preValidation) ["dropUnknownParameters()"]
    │   • (onSend) ["headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── assets/gatehouse.js (GET)
    │   • (onRequest) ["setSecurityHeaders()"]
    │   • (preValidation) ["dropUnknownParameters()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   assets/gatehouse.js (HEAD)
    │   • (onRequest) ["setSecurityHeaders()"]
    │   • (preValidation) ["dropUnknownParameters()"]
    │   • (onSend) ["headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── assets/try-it.js (GET)
    │   • (onRequest) ["setSecurityHeaders()"]
    │   • (preValidation) ["dropUnknownParameters()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   assets/try-it.js (HEAD)
    │   • (onRequest) ["setSecurityHeaders()"]
    │   • (preValidation) ["dropUnknownParameters()"]
    │   • (onSend) ["headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── assets/icon.svg (GET)
    │   • (onRequest) ["setSecurityHeaders()"]
    │   • (preValidation) ["dropUnknownParameters()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   assets/icon.svg (HEAD)
    │   • (onRequest) ["setSecurityHeaders()"]
    │   • (preValidation) ["dropUnknownParameters()"]
    │   • (onSend) ["headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── auth/login (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","limitSessionRate()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preValidation) ["dropUnknownInBrowsers()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── auth/logout (POST)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   • (preParsing) ["refuseEncodedBody()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── auth/callback (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","limitSessionRate()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   auth/callback (POST)
    │   • (onRequest) ["setSecurityHeaders()","limitRate()","ignoreTypeOfNothing()"]
    │   • (preParsing) ["refuseEncodedBody()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── auth/signed-out (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","limitSessionRate()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── auth/sessions (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   auth/sessions (DELETE)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (DELETE)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── auth/verify (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","judgeForwarded()","limitRate()","requireIdentity()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── auth/identities (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:provider (POST)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       └── /:subject (DELETE)
    │           • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │           • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │           • (preHandler) ["refuseHeaders()"]
    │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │           • (onResponse) ["countRequest()"]
    │           • (onError) ["countRefusal()"]
    ├── auth/tokens (POST)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   auth/tokens (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (DELETE)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── auth/audit (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    ├── auth/account/export (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── auth/account/delete (POST)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── auth/backchannel-logout/:provider (POST)
    │   • (onRequest) ["setSecurityHeaders()","limitRate()","ignoreTypeOfNothing()"]
    │   • (preParsing) ["refuseEncodedBody()"]
    │   • (preValidation) ["verifyLogoutToken()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── audit (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   audit (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    ├── app/invitations/:id (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["readDraft()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   app/invitations/:id (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   └── /open (GET)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()"]
    │       • (preParsing) ["refuseFault()"]
    │       • (preValidation) ["dropUnknownParameters()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── app/invoices (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │   • (preHandler) ["waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   app/invoices (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["dropUnknownParameters()"]
    │   • (preHandler) ["waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preValidation) ["readDraft()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── app/design (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preValidation) ["readDraft()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   app/design (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── app/deliveries/:id (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   app/deliveries/:id (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["dropUnknownParameters()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   ├── /replay (POST)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   └── /check (POST)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()"]
    │       • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── app/documents (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │   • (preHandler) ["waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   app/documents (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["dropUnknownParameters()"]
    │   • (preHandler) ["waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   ├── /new (GET)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /new (HEAD)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   • (preValidation) ["dropUnknownParameters()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /new (POST)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preValidation) ["dropUnknownParameters()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (POST)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()"]
    │       • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── app/access (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["readDraft()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   app/access (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── app/account (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   app/account (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["dropUnknownParameters()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   ├── /activity (GET)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │   │   • (preHandler) ["waitForTurn()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","leaveAfterSerialization()"]
    │   │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /activity (HEAD)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   • (preValidation) ["dropUnknownParameters()"]
    │   │   • (preHandler) ["waitForTurn()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │   │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   │   • (onError) ["countRefusal()"]
    │   ├── /identities/remove (POST)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   ├── /sessions/end (POST)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   └── -others (POST)
    │   │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │       • (preParsing) ["refuseEncodedBody()"]
    │   │       • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │       • (onResponse) ["countRequest()"]
    │   │       • (onError) ["countRefusal()"]
    │   ├── /tenants/switch (POST)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   ├── /tenants/new (GET)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   • (preValidation) ["readDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /tenants/new (HEAD)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /tenants/new (POST)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   ├── /tenants/leave (POST)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   ├── /tokens (GET)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /tokens (HEAD)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   • (preValidation) ["dropUnknownParameters()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   ├── /new (GET)
    │   │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   │   • (preValidation) ["readDraft()"]
    │   │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   │   • (onResponse) ["countRequest()"]
    │   │   │   • (onError) ["countRefusal()"]
    │   │   │   /new (HEAD)
    │   │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   │   │   • (onResponse) ["countRequest()"]
    │   │   │   • (onError) ["countRefusal()"]
    │   │   │   /new (POST)
    │   │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   │   • (onResponse) ["countRequest()"]
    │   │   │   • (onError) ["countRefusal()"]
    │   │   └── /end (POST)
    │   │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │       • (preParsing) ["refuseEncodedBody()"]
    │   │       • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │       • (onResponse) ["countRequest()"]
    │   │       • (onError) ["countRefusal()"]
    │   ├── /delete (POST)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   ├── /checkout (POST)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   └── /portal (POST)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()"]
    │       • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── app/app-tokens (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   app/app-tokens (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["dropUnknownParameters()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   ├── /new (GET)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   • (preValidation) ["readDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /new (HEAD)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /new (POST)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   ├── /rotate (POST)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   └── /remove (POST)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()"]
    │       • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── app/audit (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │   • (preHandler) ["waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   app/audit (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["dropUnknownParameters()"]
    │   • (preHandler) ["waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   └── /export (GET)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /export (HEAD)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preValidation) ["dropUnknownParameters()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── app/go (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │   • (preHandler) ["waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   app/go (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["dropUnknownParameters()"]
    │   • (preHandler) ["waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   └── /suggestions (GET)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preValidation) ["dropUnknownParameters()"]
    │       • (preHandler) ["waitForTurn()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","leaveAfterSerialization()"]
    │       • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │       • (onError) ["countRefusal()"]
    ├── app/command-line (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   app/command-line (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["dropUnknownParameters()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   app/command-line (POST)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   • (preParsing) ["refuseEncodedBody()"]
    │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── app/orders (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │   • (preHandler) ["waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   app/orders (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["dropUnknownParameters()"]
    │   • (preHandler) ["waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preValidation) ["dropUnknownParameters()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       └── /address (POST)
    │           • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │           • (preParsing) ["refuseEncodedBody()"]
    │           • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │           • (onResponse) ["countRequest()"]
    │           • (onError) ["countRefusal()"]
    ├── app/operations (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["readDraft()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   app/operations (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   ├── /work (GET)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   • (preValidation) ["readDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /work (HEAD)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   └── /counters (GET)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preValidation) ["readDraft()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /counters (HEAD)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── app/billing (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │   • (preHandler) ["waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   app/billing (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["dropUnknownParameters()"]
    │   • (preHandler) ["waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   ├── /replay (POST)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   └── s/:id (GET)
    │   │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │       • (preValidation) ["readDraft()"]
    │   │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │       • (onResponse) ["countRequest()"]
    │   │       • (onError) ["countRefusal()"]
    │   │       s/:id (HEAD)
    │   │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   │       • (onResponse) ["countRequest()"]
    │   │       • (onError) ["countRefusal()"]
    │   │       └── /events (GET)
    │   │           • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │           • (onResponse) ["countRequest()"]
    │   │           • (onError) ["countRefusal()"]
    │   ├── /customers (GET)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │   │   • (preHandler) ["waitForTurn()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","leaveAfterSerialization()"]
    │   │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /customers (HEAD)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   • (preValidation) ["dropUnknownParameters()"]
    │   │   • (preHandler) ["waitForTurn()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │   │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   ├── /new (GET)
    │   │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   │   • (preValidation) ["readDraft()"]
    │   │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   │   • (onResponse) ["countRequest()"]
    │   │   │   • (onError) ["countRefusal()"]
    │   │   │   /new (HEAD)
    │   │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   │   │   • (onResponse) ["countRequest()"]
    │   │   │   • (onError) ["countRefusal()"]
    │   │   │   /new (POST)
    │   │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   │   • (onResponse) ["countRequest()"]
    │   │   │   • (onError) ["countRefusal()"]
    │   │   └── /unlink (POST)
    │   │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │       • (preParsing) ["refuseEncodedBody()"]
    │   │       • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │       • (onResponse) ["countRequest()"]
    │   │       • (onError) ["countRefusal()"]
    │   ├── /unlinked (GET)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │   │   • (preHandler) ["waitForTurn()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","leaveAfterSerialization()"]
    │   │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /unlinked (HEAD)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   • (preValidation) ["dropUnknownParameters()"]
    │   │   • (preHandler) ["waitForTurn()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │   │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /unlinked (POST)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   └── /dismiss (POST)
    │   │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │       • (preParsing) ["refuseEncodedBody()"]
    │   │       • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │       • (onResponse) ["countRequest()"]
    │   │       • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preValidation) ["readDraft()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       ├── /replay (POST)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │   • (preParsing) ["refuseEncodedBody()"]
    │       │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       └── /dismiss (POST)
    │           • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │           • (preParsing) ["refuseEncodedBody()"]
    │           • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │           • (onResponse) ["countRequest()"]
    │           • (onError) ["countRefusal()"]
    ├── app/tenant (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   app/tenant (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["dropUnknownParameters()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   ├── /members/change (POST)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   ├── /members/remove (POST)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   ├── /invitations/new (GET)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   • (preValidation) ["readDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /invitations/new (HEAD)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /invitations/new (POST)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   ├── /invitations/resend (POST)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   ├── /invitations/withdraw (POST)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   ├── /name (POST)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   └── /delete (POST)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()"]
    │       • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── app/teams (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   app/teams (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["dropUnknownParameters()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   ├── /new (GET)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   • (preValidation) ["readDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /new (HEAD)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /new (POST)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   ├── /:id/delete (POST)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   ├── /:id/members (POST)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   └── /remove (POST)
    │   │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │       • (preParsing) ["refuseEncodedBody()"]
    │   │       • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │       • (onResponse) ["countRequest()"]
    │   │       • (onError) ["countRefusal()"]
    │   └── /:id/folders (POST)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()"]
    │       • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── app/welcome (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   app/welcome (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["dropUnknownParameters()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   app/welcome (POST)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   • (preParsing) ["refuseEncodedBody()"]
    │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── app/webhooks (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   app/webhooks (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["dropUnknownParameters()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   ├── /new (GET)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   • (preValidation) ["readDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /new (HEAD)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /new (POST)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preValidation) ["dropUnknownParameters()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       ├── /deliveries (GET)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       │   • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │       │   • (preHandler) ["waitForTurn()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","leaveAfterSerialization()"]
    │       │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │       │   • (onError) ["countRefusal()"]
    │       │   /deliveries (HEAD)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       │   • (preValidation) ["dropUnknownParameters()"]
    │       │   • (preHandler) ["waitForTurn()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │       │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │       │   • (onError) ["countRefusal()"]
    │       │   └── /events (GET)
    │       │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       │       • (preValidation) ["dropUnknownParameters()"]
    │       │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │       • (onResponse) ["countRequest()"]
    │       │       • (onError) ["countRefusal()"]
    │       ├── /settings (GET)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       │   • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       │   /settings (HEAD)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       │   • (preValidation) ["dropUnknownParameters()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       │   /settings (POST)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │   • (preParsing) ["refuseEncodedBody()"]
    │       │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       │   ├── /rotate (POST)
    │       │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │   │   • (preParsing) ["refuseEncodedBody()"]
    │       │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │       │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   │   • (onResponse) ["countRequest()"]
    │       │   │   • (onError) ["countRefusal()"]
    │       │   ├── /remove (POST)
    │       │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │   │   • (preParsing) ["refuseEncodedBody()"]
    │       │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │       │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   │   • (onResponse) ["countRequest()"]
    │       │   │   • (onError) ["countRefusal()"]
    │       │   └── /pause (POST)
    │       │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │       • (preParsing) ["refuseEncodedBody()"]
    │       │       • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │       │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │       • (onResponse) ["countRequest()"]
    │       │       • (onError) ["countRefusal()"]
    │       ├── /probe (GET)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       │   • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       │   /probe (HEAD)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       │   • (preValidation) ["dropUnknownParameters()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       │   /probe (POST)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │   • (preParsing) ["refuseEncodedBody()"]
    │       │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       ├── /test (POST)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │   • (preParsing) ["refuseEncodedBody()"]
    │       │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       ├── /enable (POST)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │   • (preParsing) ["refuseEncodedBody()"]
    │       │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       ├── /resume (POST)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │   • (preParsing) ["refuseEncodedBody()"]
    │       │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       └── /replays (POST)
    │           • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │           • (preParsing) ["refuseEncodedBody()"]
    │           • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │           • (onResponse) ["countRequest()"]
    │           • (onError) ["countRefusal()"]
    │           ├── /new (GET)
    │           │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │           │   • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │           │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │           │   • (onResponse) ["countRequest()"]
    │           │   • (onError) ["countRefusal()"]
    │           │   /new (HEAD)
    │           │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │           │   • (preValidation) ["dropUnknownParameters()"]
    │           │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │           │   • (onResponse) ["countRequest()"]
    │           │   • (onError) ["countRefusal()"]
    │           └── /:replayId (GET)
    │               • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │               • (preValidation) ["readDraft()"]
    │               • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │               • (onResponse) ["countRequest()"]
    │               • (onError) ["countRefusal()"]
    │               /:replayId (HEAD)
    │               • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │               • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │               • (onResponse) ["countRequest()"]
    │               • (onError) ["countRefusal()"]
    │               ├── /events (GET)
    │               │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │               │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │               │   • (onResponse) ["countRequest()"]
    │               │   • (onError) ["countRefusal()"]
    │               └── /cancel (POST)
    │                   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │                   • (preParsing) ["refuseEncodedBody()"]
    │                   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │                   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │                   • (onResponse) ["countRequest()"]
    │                   • (onError) ["countRefusal()"]
    ├── app/posts (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │   • (preHandler) ["waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   app/posts (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["dropUnknownParameters()"]
    │   • (preHandler) ["waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   ├── /new (GET)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /new (HEAD)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   • (preValidation) ["dropUnknownParameters()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /new (POST)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preValidation) ["dropUnknownParameters()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (POST)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()"]
    │       • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       └── /delete (POST)
    │           • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │           • (preParsing) ["refuseEncodedBody()"]
    │           • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │           • (onResponse) ["countRequest()"]
    │           • (onError) ["countRefusal()"]
    ├── app/folders/:id/delete (POST)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   • (preParsing) ["refuseEncodedBody()"]
    │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── app/service-tokens (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   app/service-tokens (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["dropUnknownParameters()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   ├── /new (GET)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   • (preValidation) ["readDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /new (HEAD)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /new (POST)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   ├── /rotate (POST)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   └── /remove (POST)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()"]
    │       • (preValidation) ["takeSender()","useLineFeeds()","forgetSentDraft()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── app/events (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["readDraft()","dropUnknownParameters()"]
    │   • (preHandler) ["waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   app/events (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["dropUnknownParameters()"]
    │   • (preHandler) ["waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preValidation) ["readDraft()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── app/event-types (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["readDraft()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   app/event-types (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:name (GET)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preValidation) ["readDraft()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:name (HEAD)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── app-tokens (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   app-tokens (POST)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()","tellReplay()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (PATCH)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()","tellReplay()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (DELETE)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       └── /rotate-secret (POST)
    │           • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │           • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │           • (preHandler) ["refuseHeaders()"]
    │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │           • (onResponse) ["countRequest()"]
    │           • (onError) ["countRefusal()"]
    ├── openapi.json (GET)
    │   • (onRequest) ["setSecurityHeaders()","limitRate()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   openapi.json (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","limitRate()"]
    │   • (onSend) ["headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── oauth2/start (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","limitSessionRate()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── oauth2/sign_in (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","limitSessionRate()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── oauth2/auth (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","judgeForwarded()","limitRate()","requireIdentity()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── orders (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   orders (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   orders (POST)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()","tellReplay()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()","headRouteOnSendHandler()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (PATCH)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()","tellReplay()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── docs (GET)
    │   • (onRequest) ["setSecurityHeaders()","limitRate()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   docs (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","limitRate()"]
    │   • (onSend) ["headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   ├── /guide (GET)
    │   │   • (onRequest) ["setSecurityHeaders()","limitRate()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /guide (HEAD)
    │   │   • (onRequest) ["setSecurityHeaders()","limitRate()"]
    │   │   • (onSend) ["headRouteOnSendHandler()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   ├── /events (GET)
    │   │   • (onRequest) ["setSecurityHeaders()","limitRate()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /events (HEAD)
    │   │   • (onRequest) ["setSecurityHeaders()","limitRate()"]
    │   │   • (onSend) ["headRouteOnSendHandler()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   ├── /errors (GET)
    │   │   • (onRequest) ["setSecurityHeaders()","limitRate()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /errors (HEAD)
    │   │   • (onRequest) ["setSecurityHeaders()","limitRate()"]
    │   │   • (onSend) ["headRouteOnSendHandler()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   └── /:code (GET)
    │   │       • (onRequest) ["setSecurityHeaders()","limitRate()"]
    │   │       • (onResponse) ["countRequest()"]
    │   │       • (onError) ["countRefusal()"]
    │   │       /:code (HEAD)
    │   │       • (onRequest) ["setSecurityHeaders()","limitRate()"]
    │   │       • (onSend) ["headRouteOnSendHandler()"]
    │   │       • (onResponse) ["countRequest()"]
    │   │       • (onError) ["countRefusal()"]
    │   ├── /changelog (GET)
    │   │   • (onRequest) ["setSecurityHeaders()","limitRate()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /changelog (HEAD)
    │   │   • (onRequest) ["setSecurityHeaders()","limitRate()"]
    │   │   • (onSend) ["headRouteOnSendHandler()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   ├── /api/:group (GET)
    │   │   • (onRequest) ["setSecurityHeaders()","limitRate()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /api/:group (HEAD)
    │   │   • (onRequest) ["setSecurityHeaders()","limitRate()"]
    │   │   • (onSend) ["headRouteOnSendHandler()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   └── /search (GET)
    │       • (onRequest) ["setSecurityHeaders()","limitRate()"]
    │       • (preValidation) ["dropUnknownParameters()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /search (HEAD)
    │       • (onRequest) ["setSecurityHeaders()","limitRate()"]
    │       • (preValidation) ["dropUnknownParameters()"]
    │       • (onSend) ["headRouteOnSendHandler()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── documents (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   documents (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   documents (POST)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()","tellReplay()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()","headRouteOnSendHandler()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (PATCH)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()","tellReplay()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── deliveries/:id (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   deliveries/:id (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   └── /replay (POST)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── .well-known/jwks.json (GET)
    │   • (onRequest) ["setSecurityHeaders()","limitRate()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   .well-known/jwks.json (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","limitRate()"]
    │   • (onSend) ["headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── event-types (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:name (PUT)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── events (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   events (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    ├── tenants (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   tenants (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   tenants (POST)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (PATCH)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       ├── /events (POST)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │   • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       │   • (preHandler) ["refuseHeaders()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       ├── /portal-links (POST)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │   • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       │   • (preHandler) ["refuseHeaders()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       │   └── /:linkId (DELETE)
    │       │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │       • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       │       • (preHandler) ["refuseHeaders()"]
    │       │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │       • (onResponse) ["countRequest()"]
    │       │       • (onError) ["countRefusal()"]
    │       ├── /members (GET)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       │   • (preSerialization) ["linkPages()"]
    │       │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","leaveAfterSerialization()"]
    │       │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │       │   • (onError) ["countRefusal()"]
    │       │   /members (HEAD)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       │   • (preSerialization) ["linkPages()"]
    │       │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │       │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │       │   • (onError) ["countRefusal()"]
    │       │   └── hip (DELETE)
    │       │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │       • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       │       • (preHandler) ["refuseHeaders()"]
    │       │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │       • (onResponse) ["countRequest()"]
    │       │       • (onError) ["countRefusal()"]
    │       └── /webhook-endpoints (POST)
    │           • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │           • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │           • (preHandler) ["refuseHeaders()"]
    │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │           • (onResponse) ["countRequest()"]
    │           • (onError) ["countRefusal()"]
    │           /webhook-endpoints (GET)
    │           • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │           • (preSerialization) ["linkPages()"]
    │           • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","leaveAfterSerialization()"]
    │           • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │           • (onError) ["countRefusal()"]
    │           /webhook-endpoints (HEAD)
    │           • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │           • (preSerialization) ["linkPages()"]
    │           • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │           • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │           • (onError) ["countRefusal()"]
    │           └── /:endpointId (DELETE)
    │               • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │               • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │               • (preHandler) ["refuseHeaders()"]
    │               • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │               • (onResponse) ["countRequest()"]
    │               • (onError) ["countRefusal()"]
    ├── teams (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   teams (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   teams (POST)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()","tellReplay()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()","headRouteOnSendHandler()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (PATCH)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()","tellReplay()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (DELETE)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       └── /members (GET)
    │           • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │           • (preSerialization) ["linkPages()"]
    │           • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","leaveAfterSerialization()"]
    │           • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │           • (onError) ["countRefusal()"]
    │           /members (HEAD)
    │           • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │           • (preSerialization) ["linkPages()"]
    │           • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │           • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │           • (onError) ["countRefusal()"]
    │           └── /:userId (GET)
    │               • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │               • (preHandler) ["refuseHeaders()"]
    │               • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()"]
    │               • (onResponse) ["countRequest()"]
    │               • (onError) ["countRefusal()"]
    │               /:userId (HEAD)
    │               • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │               • (preHandler) ["refuseHeaders()"]
    │               • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()"]
    │               • (onResponse) ["countRequest()"]
    │               • (onError) ["countRefusal()"]
    │               /:userId (PUT, DELETE)
    │               • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │               • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │               • (preHandler) ["refuseHeaders()"]
    │               • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │               • (onResponse) ["countRequest()"]
    │               • (onError) ["countRefusal()"]
    ├── session/tenant (POST)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   • (preParsing) ["refuseEncodedBody()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   └── /delete (POST)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── service-tokens (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   service-tokens (POST)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()","tellReplay()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (PATCH)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()","tellReplay()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (DELETE)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       └── /rotate-secret (POST)
    │           • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │           • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │           • (preHandler) ["refuseHeaders()"]
    │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │           • (onResponse) ["countRequest()"]
    │           • (onError) ["countRefusal()"]
    ├── subscriptions (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   subscriptions (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── me (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   me (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── invitations (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   invitations (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (DELETE)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       ├── /accept (POST)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │   • (preParsing) ["refuseEncodedBody()"]
    │       │   • (preHandler) ["refuseHeaders()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       └── /decline (POST)
    │           • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │           • (preParsing) ["refuseEncodedBody()"]
    │           • (preHandler) ["refuseHeaders()"]
    │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │           • (onResponse) ["countRequest()"]
    │           • (onError) ["countRefusal()"]
    ├── invoices (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   invoices (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── posts (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   posts (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   posts (POST)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()","tellReplay()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()","headRouteOnSendHandler()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (PATCH)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()","tellReplay()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (DELETE)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── portal/open (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()"]
    │   • (preParsing) ["refuseFault()"]
    │   • (preValidation) ["requireFormToken()","dropUnknownParameters()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   portal/open (POST)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","ignoreTypeOfNothing()"]
    │   • (preParsing) ["refuseEncodedBody()","refuseFault()"]
    │   • (preValidation) ["requireFormToken()","takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── portal/webhooks (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["requireFormToken()","dropUnknownParameters()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   portal/webhooks (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["requireFormToken()","dropUnknownParameters()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   ├── /new (GET)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()"]
    │   │   • (preValidation) ["requireFormToken()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /new (HEAD)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()"]
    │   │   • (preValidation) ["requireFormToken()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   │   /new (POST)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   • (preValidation) ["requireFormToken()","takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()"]
    │       • (preValidation) ["requireFormToken()","dropUnknownParameters()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()"]
    │       • (preValidation) ["requireFormToken()","dropUnknownParameters()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       ├── /deliveries (GET)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()"]
    │       │   • (preValidation) ["requireFormToken()","dropUnknownParameters()"]
    │       │   • (preHandler) ["waitForTurn()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","leaveAfterSerialization()"]
    │       │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │       │   • (onError) ["countRefusal()"]
    │       │   /deliveries (HEAD)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()"]
    │       │   • (preValidation) ["requireFormToken()","dropUnknownParameters()"]
    │       │   • (preHandler) ["waitForTurn()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │       │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │       │   • (onError) ["countRefusal()"]
    │       │   └── /events (GET)
    │       │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()"]
    │       │       • (preValidation) ["requireFormToken()","dropUnknownParameters()"]
    │       │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │       • (onResponse) ["countRequest()"]
    │       │       • (onError) ["countRefusal()"]
    │       ├── /settings (GET)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()"]
    │       │   • (preValidation) ["requireFormToken()","dropUnknownParameters()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       │   /settings (HEAD)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()"]
    │       │   • (preValidation) ["requireFormToken()","dropUnknownParameters()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       │   /settings (POST)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │   • (preParsing) ["refuseEncodedBody()"]
    │       │   • (preValidation) ["requireFormToken()","takeSender()","useLineFeeds()","forgetSentDraft()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       │   ├── /rotate (POST)
    │       │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │   │   • (preParsing) ["refuseEncodedBody()"]
    │       │   │   • (preValidation) ["requireFormToken()","takeSender()","useLineFeeds()","forgetSentDraft()"]
    │       │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   │   • (onResponse) ["countRequest()"]
    │       │   │   • (onError) ["countRefusal()"]
    │       │   ├── /remove (POST)
    │       │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │   │   • (preParsing) ["refuseEncodedBody()"]
    │       │   │   • (preValidation) ["requireFormToken()","takeSender()","useLineFeeds()","forgetSentDraft()"]
    │       │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   │   • (onResponse) ["countRequest()"]
    │       │   │   • (onError) ["countRefusal()"]
    │       │   └── /pause (POST)
    │       │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │       • (preParsing) ["refuseEncodedBody()"]
    │       │       • (preValidation) ["requireFormToken()","takeSender()","useLineFeeds()","forgetSentDraft()"]
    │       │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │       • (onResponse) ["countRequest()"]
    │       │       • (onError) ["countRefusal()"]
    │       ├── /probe (GET)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()"]
    │       │   • (preValidation) ["requireFormToken()","dropUnknownParameters()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       │   /probe (HEAD)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()"]
    │       │   • (preValidation) ["requireFormToken()","dropUnknownParameters()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       │   /probe (POST)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │   • (preParsing) ["refuseEncodedBody()"]
    │       │   • (preValidation) ["requireFormToken()","takeSender()","useLineFeeds()","forgetSentDraft()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       ├── /test (POST)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │   • (preParsing) ["refuseEncodedBody()"]
    │       │   • (preValidation) ["requireFormToken()","takeSender()","useLineFeeds()","forgetSentDraft()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       ├── /enable (POST)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │   • (preParsing) ["refuseEncodedBody()"]
    │       │   • (preValidation) ["requireFormToken()","takeSender()","useLineFeeds()","forgetSentDraft()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       ├── /resume (POST)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │   • (preParsing) ["refuseEncodedBody()"]
    │       │   • (preValidation) ["requireFormToken()","takeSender()","useLineFeeds()","forgetSentDraft()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       └── /replays (POST)
    │           • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │           • (preParsing) ["refuseEncodedBody()"]
    │           • (preValidation) ["requireFormToken()","takeSender()","useLineFeeds()","forgetSentDraft()"]
    │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │           • (onResponse) ["countRequest()"]
    │           • (onError) ["countRefusal()"]
    │           ├── /new (GET)
    │           │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()"]
    │           │   • (preValidation) ["requireFormToken()","dropUnknownParameters()"]
    │           │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │           │   • (onResponse) ["countRequest()"]
    │           │   • (onError) ["countRefusal()"]
    │           │   /new (HEAD)
    │           │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()"]
    │           │   • (preValidation) ["requireFormToken()","dropUnknownParameters()"]
    │           │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │           │   • (onResponse) ["countRequest()"]
    │           │   • (onError) ["countRefusal()"]
    │           └── /:replayId (GET)
    │               • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()"]
    │               • (preValidation) ["requireFormToken()"]
    │               • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │               • (onResponse) ["countRequest()"]
    │               • (onError) ["countRefusal()"]
    │               /:replayId (HEAD)
    │               • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()"]
    │               • (preValidation) ["requireFormToken()"]
    │               • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │               • (onResponse) ["countRequest()"]
    │               • (onError) ["countRefusal()"]
    │               ├── /events (GET)
    │               │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()"]
    │               │   • (preValidation) ["requireFormToken()"]
    │               │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │               │   • (onResponse) ["countRequest()"]
    │               │   • (onError) ["countRefusal()"]
    │               └── /cancel (POST)
    │                   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │                   • (preParsing) ["refuseEncodedBody()"]
    │                   • (preValidation) ["requireFormToken()","takeSender()","useLineFeeds()","forgetSentDraft()"]
    │                   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │                   • (onResponse) ["countRequest()"]
    │                   • (onError) ["countRefusal()"]
    ├── portal/deliveries/:id (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["requireFormToken()","dropUnknownParameters()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   portal/deliveries/:id (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["requireFormToken()","dropUnknownParameters()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   ├── /replay (POST)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   • (preParsing) ["refuseEncodedBody()"]
    │   │   • (preValidation) ["requireFormToken()","takeSender()","useLineFeeds()","forgetSentDraft()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   └── /check (POST)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()"]
    │       • (preValidation) ["requireFormToken()","takeSender()","useLineFeeds()","forgetSentDraft()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── portal/events (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["requireFormToken()","dropUnknownParameters()"]
    │   • (preHandler) ["waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   portal/events (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["requireFormToken()","dropUnknownParameters()"]
    │   • (preHandler) ["waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()"]
    │       • (preValidation) ["requireFormToken()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()"]
    │       • (preValidation) ["requireFormToken()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── portal/event-types (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["requireFormToken()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   portal/event-types (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()"]
    │   • (preValidation) ["requireFormToken()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:name (GET)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()"]
    │       • (preValidation) ["requireFormToken()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:name (HEAD)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","readPortal()","limitRate()","requireIdentity()"]
    │       • (preValidation) ["requireFormToken()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","headRouteOnSendHandler()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── users (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   users (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   users (POST)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (PATCH)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (DELETE)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── usage (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   usage (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── folders (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   folders (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   folders (POST)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()","tellReplay()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()","headRouteOnSendHandler()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (PATCH)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()","tellReplay()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (DELETE)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── webhook-endpoints (POST)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   webhook-endpoints (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   webhook-endpoints (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()","headRouteOnSendHandler()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (PATCH)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()","tellReplay()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (DELETE)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tagResponse()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       ├── /rotate-secret (POST)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │   • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       │   • (preHandler) ["refuseHeaders()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       ├── /resume (POST)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │   • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       │   • (preHandler) ["refuseHeaders()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       ├── /replay (POST)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │   • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       │   • (preHandler) ["refuseHeaders()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       │   └── s/:replayId (GET)
    │       │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       │       • (preHandler) ["refuseHeaders()"]
    │       │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()"]
    │       │       • (onResponse) ["countRequest()"]
    │       │       • (onError) ["countRefusal()"]
    │       │       s/:replayId (HEAD)
    │       │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       │       • (preHandler) ["refuseHeaders()"]
    │       │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()"]
    │       │       • (onResponse) ["countRequest()"]
    │       │       • (onError) ["countRefusal()"]
    │       │       └── /cancel (POST)
    │       │           • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │           • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       │           • (preHandler) ["refuseHeaders()"]
    │       │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │       │           • (onResponse) ["countRequest()"]
    │       │           • (onError) ["countRefusal()"]
    │       ├── /enable (POST)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │   • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       │   • (preHandler) ["refuseHeaders()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       ├── /pause (POST)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │   • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       │   • (preHandler) ["refuseHeaders()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       ├── /probe (POST)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │   • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       │   • (preHandler) ["refuseHeaders()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       │   /probe (GET)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       │   • (preHandler) ["refuseHeaders()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       │   /probe (HEAD)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       │   • (preHandler) ["refuseHeaders()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       ├── /test (POST)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │   • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       │   • (preHandler) ["refuseHeaders()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       └── /deliveries (GET)
    │           • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │           • (preSerialization) ["linkPages()"]
    │           • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","leaveAfterSerialization()"]
    │           • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │           • (onError) ["countRefusal()"]
    │           /deliveries (HEAD)
    │           • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │           • (preSerialization) ["linkPages()"]
    │           • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │           • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │           • (onError) ["countRefusal()"]
    │           └── /count (GET)
    │               • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │               • (preHandler) ["refuseHeaders()"]
    │               • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()"]
    │               • (onResponse) ["countRequest()"]
    │               • (onError) ["countRefusal()"]
    │               /count (HEAD)
    │               • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │               • (preHandler) ["refuseHeaders()"]
    │               • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()"]
    │               • (onResponse) ["countRequest()"]
    │               • (onError) ["countRefusal()"]
    ├── webhooks/billing (POST)
    │   • (onRequest) ["setSecurityHeaders()","limitRate()","ignoreType()","ignoreTypeOfNothing()"]
    │   • (preParsing) ["refuseEncodedBody()","countBody()","refuseEncodedBody()","preparsingRawBody()"]
    │   • (preValidation) ["verifyWebhook()"]
    │   • (onResponse) ["countRequest()","countWebhook()"]
    │   • (onError) ["countRefusal()"]
    ├── notifications (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   notifications (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    ├── billing/events (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   billing/events (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   ├── /replay (POST)
    │   │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   │   • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │   │   • (preHandler) ["refuseHeaders()"]
    │   │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │   │   • (onResponse) ["countRequest()"]
    │   │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       ├── /dismiss (POST)
    │       │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       │   • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       │   • (preHandler) ["refuseHeaders()"]
    │       │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       │   • (onResponse) ["countRequest()"]
    │       │   • (onError) ["countRefusal()"]
    │       └── /replay (POST)
    │           • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │           • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │           • (preHandler) ["refuseHeaders()"]
    │           • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │           • (onResponse) ["countRequest()"]
    │           • (onError) ["countRefusal()"]
    ├── billing/replays/:id (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   billing/replays/:id (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── billing/reconciliations (POST)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","tellReplay()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   billing/reconciliations (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   billing/reconciliations (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:id (GET)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    │       /:id (HEAD)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── billing/customers (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   billing/customers (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   └── /:customer (PUT)
    │       • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │       • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │       • (preHandler) ["refuseHeaders()"]
    │       • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │       • (onResponse) ["countRequest()"]
    │       • (onError) ["countRefusal()"]
    ├── billing/checkout (POST)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
    │   • (preParsing) ["refuseEncodedBody()","refuseForm()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    ├── billing/subscriptions (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    │   billing/subscriptions (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preSerialization) ["linkPages()"]
    │   • (preHandler) ["refuseHeaders()","waitForTurn()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()","leaveAfterSerialization()"]
    │   • (onResponse) ["countRequest()","leaveAfterFailure()"]
    │   • (onError) ["countRefusal()"]
    ├── billing/plans (GET)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    │   billing/plans (HEAD)
    │   • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()"]
    │   • (preHandler) ["refuseHeaders()"]
    │   • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()","compressJson()","headRouteOnSendHandler()"]
    │   • (onResponse) ["countRequest()"]
    │   • (onError) ["countRefusal()"]
    └── billing/portal (POST)
        • (onRequest) ["setSecurityHeaders()","refuseOverload()","fastifyCookieHandler()","handleSession()","readCredential()","limitRate()","requireIdentity()","ignoreTypeOfNothing()"]
        • (preParsing) ["refuseEncodedBody()","refuseForm()"]
        • (preHandler) ["refuseHeaders()"]
        • (onSend) ["fastifyCookieOnSendHandler()","saveSession()","requireEntered()"]
        • (onResponse) ["countRequest()"]
        • (onError) ["countRefusal()"]

`
