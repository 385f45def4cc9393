// Generated from the API description: npm run generate.


export interface paths {
  "/.well-known/jwks.json": {
    /**
     * Get the keys that verify identity tokens
     * @description The keys that verify `gatehouse-identity` (RFC 7517). A key is published before it signs, and as long as its tokens are valid. Fetch the set again for a token with a `kid` that you do not know.
     */
    get: operations["getIdentityKeys"];
  };
  "/auth/login": {
    /** Start a sign-in; redirects to the provider */
    get: operations["startSignIn"];
  };
  "/auth/callback": {
    /** The redirect URI: where the provider sends the browser back to */
    get: operations["finishSignIn"];
    /**
     * The redirect URI for providers that post their response
     * @description For providers with `response_mode=form_post`. The browser sends no cookie with a form of another site, so it is redirected to `GET /auth/callback` with the known fields; all others are dropped. A form without exactly one `state` is answered as there.
     */
    post: operations["passOnSignIn"];
  };
  "/auth/signed-out": {
    /**
     * The page after signing out
     * @description The page after signing out, also the redirect URI of the provider's own logout. Any `state` is accepted, or none; a valid one adds the provider's name to the page. A signed-in user is redirected to the start page.
     */
    get: operations["showSignedOutPage"];
  };
  "/auth/verify": {
    /**
     * Ask who sent a request to the app behind the proxy
     * @description For the forward authentication of a proxy (`forward_auth` of Caddy, ForwardAuth of Traefik, `auth_request` of nginx). Headers of the response tell who sent the request; each is empty if there is nothing to tell. An app should believe `gatehouse-identity` alone, which is signed. A service token has no user.
     *
     * The same-origin rule applies to the request to the app: with a cookie, a method that is not safe must come from our own origin, and so must any method if the proxy does not name it.
     *
     * Roles viewer, editor, admin: own account. A service token needs no permission.
     */
    get: operations["verifyRequest"];
  };
  "/event-types": {
    /**
     * The event types of your app, by name
     * @description An app token needs `event-type:read`.
     */
    get: operations["listEventTypes"];
  };
  "/event-types/{name}": {
    /**
     * Register an event type of your app, or replace its description
     * @description An event of the type is checked against the schema when it is published. Events that were published before stay as they are. 409 for a type of this program itself, or if there are 500 types.
     *
     * An app token needs `event-type:update`.
     */
    put: operations["putEventType"];
  };
  "/tenants/{id}/events": {
    /**
     * Publish an event of your app to a tenant, or up to 100
     * @description The events and their deliveries are stored in one commit, and sent like all others to the endpoints of the tenant that have chosen the type. The type must be registered (`PUT /event-types/{name}`), and `data` must match its schema. If one event of several is wrong, none is published and each fault is named. 409 if an id belongs to another event, or if the tenant has used up its storage for events.
     *
     * An app token needs `event:publish`.
     */
    post: operations["publishEvents"];
  };
  "/tenants/{id}/portal-links": {
    /**
     * Make a link to the webhook pages of a tenant
     * @description It works once, within five minutes, and opens a session of one hour that sees the webhooks of this tenant and nothing else: endpoints, deliveries, replays, events and their types. The person needs no account. What is done there is in the audit log of the tenant as done by the app token, with the `id` of the link. The session ends with the app token, and when this permission is taken from it. A tenant has at most 100 links and sessions; one more ends the oldest. 429 after 60 links for one tenant within a minute.
     *
     * An app token needs `portal-link:create`.
     */
    post: operations["createPortalLink"];
  };
  "/tenants/{id}/portal-links/{linkId}": {
    /**
     * End a link, or the session that it has opened
     * @description For instance when the person signs out of your app. A request of the session that is under way ends first.
     *
     * An app token needs `portal-link:delete`.
     */
    delete: operations["deletePortalLink"];
  };
  "/tenants/{id}/members": {
    /**
     * List the members of a tenant, newest members first
     * @description An app token needs `member:read`.
     */
    get: operations["listTenantMembers"];
  };
  "/tenants/{id}/webhook-endpoints": {
    /**
     * List the endpoints of a tenant, newest first
     * @description An app token needs `webhook-endpoint:read`.
     */
    get: operations["listTenantWebhookEndpoints"];
    /**
     * Create an endpoint of a tenant; its signing secret is not shown again
     * @description A tenant has at most 50 endpoints, and a URL once (409). The URL is checked now, and again before every attempt.
     *
     * An app token needs `webhook-endpoint:create`.
     */
    post: operations["createTenantWebhookEndpoint"];
  };
  "/tenants/{id}/webhook-endpoints/{endpointId}": {
    /**
     * Delete an endpoint of a tenant and its deliveries; nothing more is sent to it
     * @description An app token needs `webhook-endpoint:delete`.
     */
    delete: operations["deleteTenantWebhookEndpoint"];
  };
  "/auth/logout": {
    /**
     * Sign out: 303 to a page for a form, otherwise 204
     * @description A form is answered with 303 to the signed-out page. If the provider of the sign-in supports RP-initiated logout, that page offers it, and the 204 response has `Link: <…>; rel="urn:gatehouse:provider-logout"`: redirect the browser there; it comes back to `/auth/signed-out`. The session here ends in any case, also if the provider does not answer.
     *
     * Roles viewer, editor, admin: own account.
     */
    post: operations["signOut"];
  };
  "/auth/sessions": {
    /**
     * Your live sessions, newest first
     * @description Roles viewer, editor, admin: own account.
     */
    get: operations["listSessions"];
    /**
     * End all your sessions except this one
     * @description Roles viewer, editor, admin: own account.
     */
    delete: operations["endOtherSessions"];
  };
  "/auth/sessions/{id}": {
    /**
     * One of your live sessions
     * @description Roles viewer, editor, admin: own account.
     */
    get: operations["getSession"];
    /**
     * End one of your sessions; ending this one signs you out
     * @description Roles viewer, editor, admin: own account.
     */
    delete: operations["endSession"];
  };
  "/auth/identities": {
    /**
     * The identities that you can sign in with
     * @description Roles viewer, editor, admin: own account.
     */
    get: operations["listIdentities"];
  };
  "/auth/identities/{provider}": {
    /**
     * Start linking another identity: 302 for a form, otherwise the URL as JSON
     * @description Requires a sign-in or re-authentication (`/auth/login?reauthenticate=true`) within the last five minutes; otherwise 403 `/docs/errors/reauthentication-required`.
     *
     * Roles viewer, editor, admin: own account.
     */
    post: operations["linkIdentity"];
  };
  "/auth/identities/{provider}/{subject}": {
    /**
     * Unlink an identity; ends your other sessions signed in through its provider
     * @description Requires a sign-in or re-authentication (`/auth/login?reauthenticate=true`) within the last five minutes; otherwise 403 `/docs/errors/reauthentication-required`. 409 for the last identity.
     *
     * Roles viewer, editor, admin: own account.
     */
    delete: operations["unlinkIdentity"];
  };
  "/auth/tokens": {
    /**
     * Your API tokens in all your tenants, newest first
     * @description Expired tokens are listed for another 30 days.
     *
     * Roles viewer, editor, admin: own account.
     */
    get: operations["listApiTokens"];
    /**
     * Create an API token for your active tenant; its secret is returned only here
     * @description Sent as `Authorization: Bearer gth_…`, not together with a session cookie (400). It acts for you in the tenant that is active now, with your role at the time of use, and ends with your membership there. Creating one requires a sign-in or re-authentication (`/auth/login?reauthenticate=true`) within the last five minutes; otherwise 403 `/docs/errors/reauthentication-required`. 409 if you have 50 tokens.
     *
     * Roles viewer, editor, admin: own account.
     */
    post: operations["createApiToken"];
  };
  "/auth/tokens/{id}": {
    /**
     * One of your API tokens
     * @description Roles viewer, editor, admin: own account.
     */
    get: operations["getApiToken"];
    /**
     * Delete an API token; its next request is refused
     * @description Roles viewer, editor, admin: own account.
     */
    delete: operations["deleteApiToken"];
  };
  "/auth/audit": {
    /**
     * The audit log of your account, newest first
     * @description Roles viewer, editor, admin: own account.
     */
    get: operations["listAccountAudit"];
  };
  "/auth/account/export": {
    /**
     * Download everything that is kept about you
     * @description One download at a time. Profile, identities, sessions, memberships, invitations, tokens without secrets, orders, posts, documents and invoices that you can read, events about your orders, and your audit log. The response is written while it is read: if your session ends meanwhile, the connection is closed before the JSON is complete.
     *
     * Roles viewer, editor, admin: own account.
     */
    get: operations["exportAccount"];
  };
  "/auth/account/delete": {
    /**
     * Delete your account
     * @description Requires a sign-in or re-authentication (`/auth/login?reauthenticate=true`) within the last five minutes; otherwise 403 `/docs/errors/reauthentication-required`. Ends every session and API token and deletes identities, memberships, orders, and tenants of which you are the only member; provider tokens are revoked. Your posts stay without an author. The last admin of a tenant with other members is refused (409 `/docs/errors/last-admin`, whose detail names the tenants): make another member an admin, or delete the tenant.
     *
     * Roles viewer, editor, admin: own account.
     */
    post: operations["deleteAccount"];
  };
  "/tenants": {
    /**
     * List the tenants you are a member of, by name
     * @description Roles viewer, editor, admin: own account.
     */
    get: operations["listTenants"];
    /**
     * Create a tenant with you as its admin
     * @description It is not the active tenant of your session; `POST /session/tenant` switches to it. A member of a hundred tenants cannot create another (409).
     *
     * Roles viewer, editor, admin: own account.
     */
    post: operations["createTenant"];
  };
  "/session/tenant": {
    /**
     * Switch the active tenant of your session: 204, or 303 for a form
     * @description The session gets a new id, and the previous cookie is no longer valid.
     *
     * Roles viewer, editor, admin: own account.
     */
    post: operations["switchTenant"];
  };
  "/tenants/{id}/membership": {
    /**
     * Leave a tenant
     * @description Ends your sessions and API tokens in it, and your open invitations to others. Your posts stay without an author. If it is the active tenant, your session moves to another one of yours under a new id; without another one you are signed out and your user is deleted, with identities and orders. The last admin cannot leave (409).
     *
     * Roles viewer, editor, admin: own account.
     */
    delete: operations["leaveTenant"];
  };
  "/me": {
    /**
     * Read your user, tenant, role, permissions and invitations
     * @description Roles viewer, editor, admin: own account.
     */
    get: operations["getMe"];
  };
  "/invitations/{id}/accept": {
    /**
     * Accept an invitation: 204, or 303 for a form
     * @description You become a member of the tenant. The active tenant of your session stays; `POST /session/tenant` switches it. For the person who has the invited e-mail verified by a provider trusted for it, or signed in with it and has the secret of the invitation’s link; 404 for anyone else, and when it was withdrawn, answered or has expired. `GET /me` lists your invitations.
     *
     * Roles viewer, editor, admin: own account.
     */
    post: operations["acceptInvitation"];
  };
  "/invitations/{id}/decline": {
    /**
     * Decline an invitation: 204, or 303 for a form
     * @description It is no longer shown to you. The tenant is not told. For the person who has the invited e-mail verified by a provider trusted for it, or signed in with it and has the secret of the invitation’s link; 404 for anyone else, and when it was withdrawn, answered or has expired. `GET /me` lists your invitations.
     *
     * Roles viewer, editor, admin: own account.
     */
    post: operations["declineInvitation"];
  };
  "/orders": {
    /**
     * List your orders in all your tenants, newest first
     * @description Roles viewer, editor, admin: own. A limited token needs `order:read`.
     */
    get: operations["listOrders"];
    /**
     * Place an order
     * @description The order is yours, in your active tenant.
     *
     * Roles viewer, editor, admin: own. A limited token needs `order:write`.
     */
    post: operations["createOrder"];
  };
  "/orders/{id}": {
    /**
     * Read one of your orders
     * @description Roles viewer, editor, admin: own. A limited token needs `order:read`.
     */
    get: operations["getOrder"];
    /**
     * Change the shipping address of one of your orders
     * @description Roles viewer, editor, admin: own. A limited token needs `order:write`.
     */
    patch: operations["updateOrder"];
  };
  "/posts": {
    /**
     * List the posts of your tenant, newest first
     * @description Roles viewer, editor, admin: of the active tenant. A limited token needs `post:read`. A service token needs `post:read`.
     */
    get: operations["listPosts"];
    /**
     * Create a post in your tenant
     * @description Without `department` the post has yours.
     *
     * Roles editor, admin: of the active tenant. A limited token needs `post:write`. A service token needs `post:create`.
     */
    post: operations["createPost"];
  };
  "/posts/{id}": {
    /**
     * Read a post of your tenant
     * @description Roles viewer, editor, admin: of the active tenant. A limited token needs `post:read`. A service token needs `post:read`.
     */
    get: operations["getPost"];
    /**
     * Delete a post of your tenant
     * @description Roles admin: of the active tenant. A limited token needs `post:delete`. A service token needs `post:delete`.
     */
    delete: operations["deletePost"];
    /**
     * Change a post of your tenant
     * @description An editor may change posts of their own department, from 09:00:00 until before 17:00:00 UTC; otherwise 403.
     *
     * Roles editor, admin: of the active tenant; editors only in their own department; editors only from 09:00 until before 17:00 UTC. A limited token needs `post:write`. A service token needs `post:update`.
     */
    patch: operations["updatePost"];
  };
  "/invoices": {
    /**
     * List the invoices of your tenant, newest first
     * @description Roles viewer, editor, admin: of the active tenant. A limited token needs `invoice:read`. A service token needs `invoice:read`.
     */
    get: operations["listInvoices"];
  };
  "/invoices/{id}": {
    /**
     * Read an invoice of your tenant
     * @description Roles viewer, editor, admin: of the active tenant. A limited token needs `invoice:read`. A service token needs `invoice:read`.
     */
    get: operations["getInvoice"];
  };
  "/documents": {
    /**
     * List the documents of your teams, newest first
     * @description Only members of the team that owns its folder can reach a document; administrators cannot.
     *
     * Roles viewer, editor, admin: of the active tenant, in a folder of one of the user’s teams. A limited token needs `document:read`.
     */
    get: operations["listDocuments"];
    /**
     * Create a document in a folder of one of your teams
     * @description Only members of the team that owns its folder can reach a document; administrators cannot.
     *
     * Roles editor, admin: of the active tenant, in a folder of one of the user’s teams. A limited token needs `document:write`.
     */
    post: operations["createDocument"];
  };
  "/documents/{id}": {
    /**
     * Read a document of one of your teams
     * @description Only members of the team that owns its folder can reach a document; administrators cannot.
     *
     * Roles viewer, editor, admin: of the active tenant, in a folder of one of the user’s teams. A limited token needs `document:read`.
     */
    get: operations["getDocument"];
    /**
     * Change a document of one of your teams
     * @description Only members of the team that owns its folder can reach a document; administrators cannot.
     *
     * Roles editor, admin: of the active tenant, in a folder of one of the user’s teams. A limited token needs `document:write`.
     */
    patch: operations["updateDocument"];
  };
  "/users": {
    /**
     * List the members of your tenant, newest members first
     * @description Open invitations are at `GET /invitations`.
     *
     * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `user:read`.
     */
    get: operations["listUsers"];
    /**
     * Invite a user to your tenant
     * @description The person who has that e-mail becomes a member when they accept: verified by a provider trusted for it, or with the link, which contains a secret and works once, and a sign-in with that e-mail. Whether such a person exists is not told. With a mail server the link is mailed, and only its recipient has it; otherwise it is `url`. An invitation is valid for 14 days, until it is withdrawn, or until its inviter is no longer an admin; a second one for the same e-mail replaces it. 409 for the e-mail of a member.
     *
     * Roles admin: of the active tenant. A limited token needs `user:manage`.
     */
    post: operations["inviteUser"];
  };
  "/users/{id}": {
    /**
     * Remove a member from your tenant
     * @description Ends their sessions and API tokens in it, and their open invitations. Their posts stay without an author. A user without any membership left is deleted, with identities and orders. The last admin cannot be removed or lose the role (409).
     *
     * Roles admin: of the active tenant. A limited token needs `user:manage`.
     */
    delete: operations["removeUser"];
    /**
     * Change a member of your tenant; it applies from their next request
     * @description `role` and `department` apply to your tenant only. The open invitations of an admin who loses the role end. The last admin cannot be removed or lose the role (409).
     *
     * Roles admin: of the active tenant. A limited token needs `user:manage`.
     */
    patch: operations["updateUser"];
  };
  "/session/tenant/delete": {
    /**
     * Delete the active tenant of your session
     * @description Requires its exact name (409 `/docs/errors/confirmation-mismatch` for another one), and a sign-in or re-authentication within the last five minutes. All access to the tenant ends at once and nothing is sent from it any more; its data, events, deliveries and jobs are deleted within minutes. Members without another tenant are deleted with their accounts. Your session moves to another tenant of yours under a new id; without another one you are signed out and your account is deleted too.
     *
     * Roles admin: of the active tenant.
     */
    post: operations["deleteTenant"];
  };
  "/tenants/{id}": {
    /**
     * Rename the active tenant
     * @description Roles admin: of the active tenant.
     */
    patch: operations["renameTenant"];
  };
  "/invitations": {
    /**
     * List the open invitations to your tenant, newest first
     * @description Includes expired invitations, which can no longer be accepted.
     *
     * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `user:read`.
     */
    get: operations["listInvitations"];
  };
  "/invitations/{id}": {
    /**
     * Withdraw an open invitation
     * @description Roles admin: of the active tenant. A limited token needs `user:manage`.
     */
    delete: operations["withdrawInvitation"];
  };
  "/folders": {
    /**
     * List the folders of your tenant, newest first
     * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `folder:read`.
     */
    get: operations["listFolders"];
    /**
     * Create a folder, directly with a team or nested in another folder
     * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `folder:create`.
     */
    post: operations["createFolder"];
  };
  "/folders/{id}": {
    /**
     * Read a folder of your tenant
     * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `folder:read`.
     */
    get: operations["getFolder"];
    /**
     * Delete an empty folder; 409 while it has folders or documents
     * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `folder:delete`.
     */
    delete: operations["deleteFolder"];
    /**
     * Rename or move a folder
     * @description A folder moves with its contents, which then belong to the team of its new place. 409 if it would contain itself.
     *
     * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `folder:update`.
     */
    patch: operations["updateFolder"];
  };
  "/teams": {
    /**
     * List the teams of your tenant, newest first
     * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `team:read`.
     */
    get: operations["listTeams"];
    /**
     * Create a team without members
     * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `team:create`.
     */
    post: operations["createTeam"];
  };
  "/teams/{id}": {
    /**
     * Read a team of your tenant
     * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `team:read`.
     */
    get: operations["getTeam"];
    /**
     * Delete a team of your tenant; 409 while it owns folders
     * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `team:delete`.
     */
    delete: operations["deleteTeam"];
    /**
     * Rename a team of your tenant
     * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `team:update`.
     */
    patch: operations["updateTeam"];
  };
  "/teams/{id}/members": {
    /**
     * List the members of a team, by user id
     * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `team:read`.
     */
    get: operations["listTeamMembers"];
  };
  "/teams/{id}/members/{userId}": {
    /**
     * Read a membership of a team
     * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `team:read`.
     */
    get: operations["getTeamMember"];
    /**
     * Add a member of your tenant to a team
     * @description Changes nothing for a member of the team.
     *
     * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `team:update`.
     */
    put: operations["addTeamMember"];
    /**
     * Remove a member from a team; access to its documents ends at once
     * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `team:update`.
     */
    delete: operations["removeTeamMember"];
  };
  "/audit": {
    /**
     * List the audit log of your tenant, newest first
     * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `audit:read`.
     */
    get: operations["listTenantAudit"];
  };
  "/service-tokens": {
    /**
     * The service tokens of your tenant, newest first
     * @description Expired tokens are listed for another 30 days.
     *
     * Roles admin: of the active tenant.
     */
    get: operations["listServiceTokens"];
    /**
     * Create a service token for your tenant; its secret is returned only here
     * @description Sent as `Authorization: Bearer gths_…`, not together with a session cookie (400). It acts for the tenant and for no person: it may do what its permissions name, within the tenant, and has limits of its own. It ends when it expires or is deleted, or with the tenant, and not when you leave. Requires a sign-in or re-authentication (`/auth/login?reauthenticate=true`) within the last five minutes; otherwise 403 `/docs/errors/reauthentication-required`. 409 if the tenant has 50 service tokens.
     *
     * Roles admin: of the active tenant.
     */
    post: operations["createServiceToken"];
  };
  "/service-tokens/{id}": {
    /**
     * Read a service token of your tenant
     * @description Roles admin: of the active tenant.
     */
    get: operations["getServiceToken"];
    /**
     * Delete a service token; its next request is refused
     * @description Roles admin: of the active tenant.
     */
    delete: operations["deleteServiceToken"];
    /**
     * Change name, permissions or expiry of a service token
     * @description Applies from its next request. Requires a sign-in or re-authentication (`/auth/login?reauthenticate=true`) within the last five minutes; otherwise 403 `/docs/errors/reauthentication-required`. `lastUsedAt` is part of the ETag, so `If-Match` may also fail because the token was used.
     *
     * Roles admin: of the active tenant.
     */
    patch: operations["updateServiceToken"];
  };
  "/service-tokens/{id}/rotate-secret": {
    /**
     * Give a service token a new secret; it is returned only here
     * @description The previous secret ends at once. To change over without a gap, create a second token and delete the first. Requires a sign-in or re-authentication (`/auth/login?reauthenticate=true`) within the last five minutes; otherwise 403 `/docs/errors/reauthentication-required`. 409 if another request rotates it at the same time.
     *
     * Roles admin: of the active tenant.
     */
    post: operations["rotateServiceToken"];
  };
  "/webhook-endpoints": {
    /**
     * List the endpoints of your tenant, newest first
     * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `webhook-endpoint:read`.
     */
    get: operations["listWebhookEndpoints"];
    /**
     * Create an endpoint for your events; its signing secret is not shown again
     * @description A tenant has at most 50 endpoints, and a URL once (409). The URL is checked now, and again before every attempt.
     *
     * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `webhook-endpoint:create`.
     */
    post: operations["createWebhookEndpoint"];
  };
  "/webhook-endpoints/{id}": {
    /**
     * Read an endpoint of your tenant
     * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `webhook-endpoint:read`.
     */
    get: operations["getWebhookEndpoint"];
    /**
     * Delete an endpoint and its deliveries; nothing more is sent to it
     * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `webhook-endpoint:delete`.
     */
    delete: operations["deleteWebhookEndpoint"];
    /**
     * Change an endpoint; pending deliveries use the new URL from their next attempt
     * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `webhook-endpoint:update`.
     */
    patch: operations["updateWebhookEndpoint"];
  };
  "/webhook-endpoints/{id}/rotate-secret": {
    /**
     * Rotate the secret of an endpoint; the new one is not shown again
     * @description Until the overlap ends, every delivery is signed with both secrets. At most two secrets sign: another rotation during the overlap stops the oldest at once. With `overlapSeconds: 0` the previous secret stops at once.
     *
     * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `webhook-endpoint:update`.
     */
    post: operations["rotateWebhookEndpointSecret"];
  };
  "/webhook-endpoints/{id}/enable": {
    /**
     * Enable a failing or disabled endpoint
     * @description Earlier failures no longer count. Use a replay to send the deliveries that ended in the meantime.
     *
     * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `webhook-endpoint:update`.
     */
    post: operations["enableWebhookEndpoint"];
  };
  "/webhook-endpoints/{id}/test": {
    /**
     * Send one test event to an endpoint now and return the result
     * @description An `endpoint.test`, or the `type` that you name, with example data of an object that does not exist. A worker makes one attempt before the response; if none is free within 4 seconds, this is 503 and nothing was sent. The attempt is not retried and does not change the state of the endpoint. Disabled endpoints can be tested too.
     *
     * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `webhook-endpoint:update`.
     */
    post: operations["testWebhookEndpoint"];
  };
  "/webhook-endpoints/{id}/probe": {
    /**
     * The report of the latest probe
     * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `webhook-endpoint:read`.
     */
    get: operations["getWebhookEndpointProbe"];
    /**
     * Check the receiver of an endpoint with correct and incorrect deliveries
     * @description Sends about twelve inert `endpoint.test` deliveries, grades the receiver from A to F and names a remedy for each fault. A worker sends them; if none is free within 4 seconds, this is 503 and nothing was sent. Takes up to 25 seconds; at most every 6 hours for an endpoint.
     *
     * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `webhook-endpoint:update`.
     */
    post: operations["probeWebhookEndpoint"];
  };
  "/webhook-endpoints/{id}/deliveries": {
    /**
     * List the deliveries to an endpoint, newest first, with their attempts
     * @description With `status`, `eventType` or an `httpStatus` of 2xx only the newest 10,000 deliveries of the time range are searched.
     *
     * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `delivery:read`.
     */
    get: operations["listDeliveries"];
  };
  "/webhook-endpoints/{id}/deliveries/count": {
    /**
     * Count the deliveries to an endpoint, as before a replay of them
     * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `delivery:read`.
     */
    get: operations["countDeliveries"];
  };
  "/deliveries/{id}": {
    /**
     * Read a delivery with its attempts
     * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `delivery:read`.
     */
    get: operations["getDelivery"];
  };
  "/deliveries/{id}/replay": {
    /**
     * Send a delivery again, with a new series of attempts
     * @description Sends the same event with the same id, whatever its status. A second request before the first attempt changes nothing. The endpoint is disabled. Enable it first: POST /webhook-endpoints/:id/enable (409).
     *
     * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `delivery:replay`.
     */
    post: operations["replayDelivery"];
  };
  "/webhook-endpoints/{id}/replay": {
    /**
     * Send many deliveries again: those of a time range that match, or selected ones
     * @description Deliveries created at or after `from` and before `to`, at most 90 days, that match the other filters; or those in `deliveryIds`. GET /webhook-endpoints/:id/deliveries/count says how many match. `Location` is the replay; without such deliveries it is finished at once. The endpoint is disabled. Enable it first: POST /webhook-endpoints/:id/enable (409). At most 2 replays of an endpoint and 5 of a tenant are open at once (429).
     *
     * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `delivery:replay`.
     */
    post: operations["replayDeliveries"];
  };
  "/webhook-endpoints/{id}/replays/{replayId}": {
    /**
     * Read the progress of a replay
     * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `delivery:read`.
     */
    get: operations["getDeliveryReplay"];
  };
  "/webhook-endpoints/{id}/replays/{replayId}/cancel": {
    /**
     * Cancel a replay in progress
     * @description Deliveries that were started already are sent; the rest is not. A finished replay stays as it is.
     *
     * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `delivery:replay`.
     */
    post: operations["cancelDeliveryReplay"];
  };
  "/events": {
    /**
     * List the events of your tenant in order, after a cursor
     * @description Every event as it is sent, with the same id, whether an endpoint has chosen its type or not. `nextCursor` points after the last event of the page: store it and pass it as `after`, now or later. It is null if there are no new events; your last cursor stays valid. An event appears once all transactions that began before it have ended, so that none is skipped. Events are kept for 90 days, without an endpoint for 30 days, unless the operator has set other limits.
     *
     * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `event:read`.
     */
    get: operations["listEvents"];
  };
  "/notifications": {
    /**
     * List the alerts about your webhook endpoints, newest first
     * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `notification:read`.
     */
    get: operations["listNotifications"];
  };
  "/usage": {
    /**
     * Read what your tenant stores and may store
     * @description A write that would store more than a limit is refused with 409, `quota-exceeded`, and changes nothing. Deleting resources is always possible. Events expire on their own.
     *
     * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `usage:read`.
     */
    get: operations["getUsage"];
  };
  "/billing/events": {
    /**
     * List received billing events, newest first
     * @description For operators. To find a rare `type`, set `from` and `to`.
     *
     * Operators: of no tenant; operators only.
     */
    get: operations["listBillingEvents"];
  };
  "/billing/events/{id}": {
    /**
     * Read a received billing event with its raw body
     * @description For operators. `body` is null after its retention has ended.
     *
     * Operators: of no tenant; operators only.
     */
    get: operations["getBillingEvent"];
  };
  "/billing/events/{id}/dismiss": {
    /**
     * Dismiss a dead billing event
     * @description For operators. The event need not be processed: it is no longer counted as dead, and not replayed with the dead events, and not processed when its customer is linked. Replayed by its id, it is processed, or what it was before. 409 if it is neither dead nor unlinked.
     *
     * Operators: of no tenant; operators only.
     */
    post: operations["dismissBillingEvent"];
  };
  "/billing/events/{id}/replay": {
    /**
     * Process a received billing event again
     * @description For operators. Processes each event again, in order of arrival. Effects are keyed by the event, so none happens twice. Returns the replay; GET /billing/replays/:id returns its progress. 409 if its body has been deleted.
     *
     * Operators: of no tenant; operators only.
     */
    post: operations["replayBillingEvent"];
  };
  "/billing/events/replay": {
    /**
     * Process many received billing events again
     * @description For operators. Processes each event again, in order of arrival. Effects are keyed by the event, so none happens twice. Returns the replay; GET /billing/replays/:id returns its progress.
     *
     * Operators: of no tenant; operators only.
     */
    post: operations["replayBillingEvents"];
  };
  "/billing/replays/{id}": {
    /**
     * Read the progress of a replay
     * @description Operators: of no tenant; operators only.
     */
    get: operations["getBillingReplay"];
  };
  "/billing/reconciliations": {
    /**
     * List comparisons with the events of the provider, newest first
     * @description For operators.
     *
     * Operators: of no tenant; operators only.
     */
    get: operations["listBillingReconciliations"];
    /**
     * Compare the events of the provider with those received
     * @description For operators. Reads the list of the provider and records each event whose webhook never arrived, with the same effect. Needs BILLING_API_URL. Without `from` and `to` it covers the last day; never the last ten minutes, because their webhooks may still arrive. The same runs every 15 minutes by itself.
     *
     * Operators: of no tenant; operators only.
     */
    post: operations["createBillingReconciliation"];
  };
  "/billing/reconciliations/{id}": {
    /**
     * Read a comparison with the events of the provider
     * @description For operators.
     *
     * Operators: of no tenant; operators only.
     */
    get: operations["getBillingReconciliation"];
  };
  "/billing/customers": {
    /**
     * List the billing customers that are linked to users
     * @description For operators.
     *
     * Operators: of no tenant; operators only.
     */
    get: operations["listBillingCustomers"];
  };
  "/billing/customers/{customer}": {
    /**
     * Link a billing customer to a user
     * @description For operators. From now on the customer’s charges create invoices in the user’s own tenant, and its subscription sets the user’s plan. It is taken from the user who had it; existing invoices stay. 404 if the user does not exist, 409 if the user has another customer.
     *
     * Operators: of no tenant; operators only.
     */
    put: operations["linkBillingCustomer"];
  };
  "/app-tokens": {
    /**
     * The app tokens, newest first
     * @description Expired tokens are listed for another 30 days.
     *
     * Operators: of no tenant; operators only.
     */
    get: operations["listAppTokens"];
    /**
     * Create an app token; its secret is returned only here
     * @description Sent as `Authorization: Bearer gtha_…`, not together with a session cookie (400). It is for the backend behind this program. It belongs to no tenant: each request names the tenant that it is about. Its permissions say what it may do, and it has its own rate limits. Requires a sign-in or re-authentication (`/auth/login?reauthenticate=true`) within the last five minutes; otherwise 403 `/docs/errors/reauthentication-required`. 409 if there are 50 app tokens.
     *
     * Operators: of no tenant; operators only.
     */
    post: operations["createAppToken"];
  };
  "/app-tokens/{id}": {
    /**
     * Read an app token
     * @description Operators: of no tenant; operators only.
     */
    get: operations["getAppToken"];
    /**
     * Delete an app token; its next request is refused
     * @description Operators: of no tenant; operators only.
     */
    delete: operations["deleteAppToken"];
    /**
     * Change name, permissions or expiry of an app token
     * @description Applies from its next request. Requires a sign-in or re-authentication (`/auth/login?reauthenticate=true`) within the last five minutes; otherwise 403 `/docs/errors/reauthentication-required`. `lastUsedAt` is part of the ETag, so `If-Match` may also fail because the token was used.
     *
     * Operators: of no tenant; operators only.
     */
    patch: operations["updateAppToken"];
  };
  "/app-tokens/{id}/rotate-secret": {
    /**
     * Give an app token a new secret; it is returned only here
     * @description The previous secret ends at once. To change over without a gap, create a second token and delete the first. Requires a sign-in or re-authentication (`/auth/login?reauthenticate=true`) within the last five minutes; otherwise 403 `/docs/errors/reauthentication-required`. 409 if another request rotates it at the same time.
     *
     * Operators: of no tenant; operators only.
     */
    post: operations["rotateAppToken"];
  };
  "/billing/checkout": {
    /**
     * Start to pay for a plan
     * @description Creates the provider’s customer of this user, or uses the one that they have, and answers with the page where they pay. The plan changes when the provider reports the subscription. 400 for a price that is not in `BILLING_PLANS` or that the provider does not have; 404 if the installation has no checkout; 409 while a plan runs, which is changed at the portal, if the user cannot have a customer, if the provider has deleted it, and if the user has deleted their own tenant; 503 if the provider does not answer.
     *
     * Roles viewer, editor, admin: own account.
     */
    post: operations["startCheckout"];
  };
  "/billing/portal": {
    /**
     * Change or cancel what you pay
     * @description Answers with the provider’s own page for cards, invoices and cancelling. 404 if the installation has no checkout; 409 if the user has never paid, or if the provider has deleted their customer; 503 if the provider does not answer.
     *
     * Roles viewer, editor, admin: own account.
     */
    post: operations["openBillingPortal"];
  };
  "/auth/backchannel-logout/{provider}": {
    /**
     * Back-channel logout, sent by a provider
     * @description OpenID Connect Back-Channel Logout 1.0. The form parameter `logout_token` is a JWT signed by the provider; other parameters are ignored. With `sid` the request ends the sessions signed in from that session at the provider, otherwise all sessions that the user of `sub` signed in through this provider. The response is 200 also if there is no such session, and 400 for an invalid token, for a token that was used before and if the provider's keys cannot be fetched. The reason is in the audit log.
     */
    post: operations["receiveBackchannelLogout"];
  };
  "/webhooks/billing": {
    /**
     * Receive a signed billing event
     * @description Header `Webhook-Signature: t=UNIX_SECONDS,v1=HEX`, an HMAC-SHA256 of `t.body`, at most 300 seconds old; with another `BILLING_PROVIDER` the headers of that provider, and no others. The response is text. 200 is `recorded`, `ignored` (a kind that is not processed) or `duplicate` (also with another body; the first body stays): do not send the event again. 503 with `Retry-After`: nothing was recorded, send it again.
     */
    post: operations["receiveBillingEvent"];
  };
}

export interface webhooks {
  "order.updated": {
    /**
     * An order was changed
     * @description Sent to every webhook endpoint of the tenant that has chosen the type. Verify the signature over the raw body before you parse it.
     */
    post: operations["onOrderUpdated"];
  };
  "post.updated": {
    /**
     * A post was changed
     * @description Sent to every webhook endpoint of the tenant that has chosen the type. Verify the signature over the raw body before you parse it.
     */
    post: operations["onPostUpdated"];
  };
  "post.deleted": {
    /**
     * A post was deleted; `data` is its last state
     * @description Sent to every webhook endpoint of the tenant that has chosen the type. Verify the signature over the raw body before you parse it.
     */
    post: operations["onPostDeleted"];
  };
  "invoice.created": {
    /**
     * A charge was paid, and its invoice created
     * @description Sent to every webhook endpoint of the tenant that has chosen the type. Verify the signature over the raw body before you parse it.
     */
    post: operations["onInvoiceCreated"];
  };
  "invoice.updated": {
    /**
     * A payment was refunded or disputed, or its dispute was won
     * @description Sent to every webhook endpoint of the tenant that has chosen the type. Verify the signature over the raw body before you parse it.
     */
    post: operations["onInvoiceUpdated"];
  };
  "subscription.activated": {
    /**
     * A user’s subscription gave them a plan that they did not have; sent to their own tenant
     * @description Sent to every webhook endpoint of the tenant that has chosen the type. Verify the signature over the raw body before you parse it.
     */
    post: operations["onSubscriptionActivated"];
  };
  "subscription.changed": {
    /**
     * A user’s subscription has another plan, status, period or end; sent to their own tenant
     * @description Sent to every webhook endpoint of the tenant that has chosen the type. Verify the signature over the raw body before you parse it.
     */
    post: operations["onSubscriptionChanged"];
  };
  "subscription.ended": {
    /**
     * A user’s subscription ended and with it their plan; sent to their own tenant
     * @description Sent to every webhook endpoint of the tenant that has chosen the type. Verify the signature over the raw body before you parse it.
     */
    post: operations["onSubscriptionEnded"];
  };
  "endpoint.test": {
    /**
     * A test of the endpoint; nothing has happened
     * @description Sent to every webhook endpoint of the tenant that has chosen the type. Verify the signature over the raw body before you parse it.
     */
    post: operations["onEndpointTest"];
  };
}

export interface components {
  schemas: {
    AccountDeletion: {
      /** @enum {string} */
      confirm: "delete";
    };
    AccountExport: {
      /** Format: date-time */
      exportedAt: string;
      profile: {
          [key: string]: unknown;
        }[];
      identities: {
          [key: string]: unknown;
        }[];
      providerGrants: {
          [key: string]: unknown;
        }[];
      providerRevocations: {
          [key: string]: unknown;
        }[];
      sessions: {
          [key: string]: unknown;
        }[];
      pendingSignIns: {
          [key: string]: unknown;
        }[];
      idempotencyKeys: {
          [key: string]: unknown;
        }[];
      apiTokens: {
          [key: string]: unknown;
        }[];
      serviceTokensCreated: {
          [key: string]: unknown;
        }[];
      appTokensCreated: {
          [key: string]: unknown;
        }[];
      memberships: {
          [key: string]: unknown;
        }[];
      eventUsage: {
          [key: string]: unknown;
        }[];
      invitationsReceived: {
          [key: string]: unknown;
        }[];
      invitationsSent: {
          [key: string]: unknown;
        }[];
      orders: {
          [key: string]: unknown;
        }[];
      auditLog: {
          [key: string]: unknown;
        }[];
      tenants: {
          [key: string]: unknown;
        }[];
      posts: {
          [key: string]: unknown;
        }[];
      documents: {
          [key: string]: unknown;
        }[];
      teamMemberships: {
          [key: string]: unknown;
        }[];
      invoices: {
          [key: string]: unknown;
        }[];
      events: {
          [key: string]: unknown;
        }[];
    };
    ApiToken: {
      /** Format: uuid */
      id: string;
      name: string;
      /** @description Prefix and last four characters of the secret, to recognize it */
      hint: string;
      permissions: string[] | null;
      /** Format: date-time */
      createdAt: string;
      /** Format: date-time */
      expiresAt: string;
      lastUsedAt: string | null;
    };
    ApiTokenPage: {
      data: components["schemas"]["ApiToken"][];
      nextCursor: string | null;
    };
    ApiTokenWithSecret: {
      /** Format: uuid */
      id: string;
      name: string;
      /** @description Prefix and last four characters of the secret, to recognize it */
      hint: string;
      permissions: string[] | null;
      /** Format: date-time */
      createdAt: string;
      /** Format: date-time */
      expiresAt: string;
      lastUsedAt: string | null;
      token: string;
    };
    AppEventType: {
      name: string;
      description: string;
      schema: {
        [key: string]: unknown;
      } | null;
      example: {
        [key: string]: unknown;
      } | null;
      /** Format: date-time */
      createdAt: string;
      /** Format: date-time */
      updatedAt: string;
    };
    AppEventTypePage: {
      data: components["schemas"]["AppEventType"][];
      nextCursor: string | null;
    };
    AppToken: {
      /** Format: uuid */
      id: string;
      name: string;
      /** @description Prefix and last four characters of the secret, to recognize it */
      hint: string;
      /** @description `resource:action`; it may do nothing else */
      permissions: string[];
      createdBy: number | null;
      /** Format: date-time */
      createdAt: string;
      /** Format: date-time */
      expiresAt: string;
      secretRotatedAt: string | null;
      lastUsedAt: string | null;
    };
    AppTokenChange: {
      name?: string;
      /** @description What the app may do in every tenant; it may do nothing else. */
      permissions?: ("webhook-endpoint:read" | "webhook-endpoint:create" | "webhook-endpoint:delete" | "event:publish" | "portal-link:create" | "portal-link:delete" | "member:read" | "event-type:read" | "event-type:update")[];
      /**
       * Format: date-time
       * @description In the future, at most 366 days ahead
       */
      expiresAt?: string;
    };
    AppTokenPage: {
      data: components["schemas"]["AppToken"][];
      nextCursor: string | null;
    };
    AppTokenWithSecret: {
      /** Format: uuid */
      id: string;
      name: string;
      /** @description Prefix and last four characters of the secret, to recognize it */
      hint: string;
      /** @description `resource:action`; it may do nothing else */
      permissions: string[];
      createdBy: number | null;
      /** Format: date-time */
      createdAt: string;
      /** Format: date-time */
      expiresAt: string;
      secretRotatedAt: string | null;
      lastUsedAt: string | null;
      /** @description The secret. It is not shown again. */
      token: string;
    };
    AuditEntry: {
      id: number;
      /** Format: date-time */
      at: string;
      /** @description The action, such as `sign-in` */
      action: string;
      /** @description `done`, `refused`, `unavailable` or `failed` */
      outcome: string;
      reason: string | null;
      provider: string | null;
      providerError: string | null;
      target: string | null;
      userId: number | null;
      serviceId: string | null;
      serviceName: string | null;
      portalSessionId: string | null;
      tenantId: string | null;
      ip: string | null;
      userAgent: string | null;
    };
    AuditEntryPage: {
      data: components["schemas"]["AuditEntry"][];
      nextCursor: string | null;
    };
    BillingCustomer: {
      /** @description Id at the billing provider */
      customer: string;
      userId: number;
      email: string | null;
    };
    BillingCustomerLink: {
      userId: number | null;
    };
    BillingCustomerPage: {
      data: components["schemas"]["BillingCustomer"][];
      nextCursor: string | null;
    };
    BillingEvent: {
      id: string;
      type: string;
      /** Format: date-time */
      receivedAt: string;
      status: components["schemas"]["BillingEventStatus"];
      attempts: number;
      lastError: string | null;
      outcome: string | null;
      processedAt: string | null;
      /** @description Duplicates of the id with another body; the first body is stored */
      otherBodies: number;
      /**
       * @description `reconciled`: its webhook never arrived, and it was found in the list of the provider
       * @enum {unknown}
       */
      source: "webhook" | "reconciled";
      dismissedReason: string | null;
      customer: string | null;
      forwarding: components["schemas"]["BillingEventForwarding"] | null;
    };
    BillingEventDismissal: {
      /** @description Kept with the event and in the audit log */
      reason: string;
    };
    /** @description Whether the app has it (`APP_WEBHOOK_URL`); null if it is not posted. After `failed` a replay of the event posts it again */
    BillingEventForwarding: {
      status: components["schemas"]["BillingEventForwardingStatus"];
      attempts: number;
      lastError: string | null;
      attemptedAt: string | null;
    };
    /** @enum {unknown} */
    BillingEventForwardingStatus: "waiting" | "delivered" | "failed";
    BillingEventPage: {
      data: components["schemas"]["BillingEvent"][];
      nextCursor: string | null;
    };
    /** @enum {unknown} */
    BillingEventStatus: "recorded" | "processed" | "ignored" | "unlinked" | "failed" | "dead" | "dismissed";
    BillingEventWithBody: {
      id: string;
      type: string;
      /** Format: date-time */
      receivedAt: string;
      status: components["schemas"]["BillingEventStatus"];
      attempts: number;
      lastError: string | null;
      outcome: string | null;
      processedAt: string | null;
      /** @description Duplicates of the id with another body; the first body is stored */
      otherBodies: number;
      /**
       * @description `reconciled`: its webhook never arrived, and it was found in the list of the provider
       * @enum {unknown}
       */
      source: "webhook" | "reconciled";
      dismissedReason: string | null;
      customer: string | null;
      forwarding: components["schemas"]["BillingEventForwarding"] | null;
      body: string | null;
    };
    BillingReconciliation: {
      /** Format: uuid */
      id: string;
      /**
       * Format: date-time
       * @description Events that the provider created from here
       */
      from: string;
      /**
       * Format: date-time
       * @description until before this time
       */
      to: string;
      /** @description It only counts */
      dryRun: boolean;
      /** @description False if an operator asked for it */
      scheduled: boolean;
      /** @enum {unknown} */
      status: "running" | "finished" | "failed";
      /** @description Events in the list of the provider */
      seen: number;
      /** @description Events whose webhook never arrived. Without `dryRun` they are recorded. */
      missed: number;
      /** @description Known events whose content in the list is not what was received */
      different: number;
      /** @description Members of the list that are no events of this time */
      refused: number;
      /** @description The first hundred */
      missedIds: string[];
      /** @description The first hundred */
      differentIds: string[];
      error: string | null;
      /** Format: date-time */
      createdAt: string;
      finishedAt: string | null;
    };
    BillingReconciliationPage: {
      data: components["schemas"]["BillingReconciliation"][];
      nextCursor: string | null;
    };
    BillingReplay: {
      /** Format: uuid */
      id: string;
      /** @description Events selected by the request */
      total: number;
      succeeded: number;
      /** @description Events that failed again; each has its `lastError` */
      failed: number;
      /** Format: date-time */
      createdAt: string;
      finishedAt: string | null;
    };
    Checkout: {
      /** @description A price of `BILLING_PLANS` */
      price: string;
      /** @description Where the provider sends the browser afterwards: one of our own pages, a path of `SIGN_IN_RETURN_TO` or a URL of an origin in `APP_ORIGINS`. Default: the account page. */
      returnTo?: string;
    };
    CheckoutPage: {
      /**
       * Format: uri
       * @description A page of the billing provider
       */
      url: string;
    };
    /** @description Nothing was deleted. */
    ConfirmationMismatchProblem: components["schemas"]["Problem"] & {
      /** @constant */
      type: "/docs/errors/confirmation-mismatch";
      /** @constant */
      title: "The confirmation does not match";
      /** @constant */
      status: 409;
    };
    /** @description The request is well-formed, but the present state does not allow it. Nothing was changed. */
    ConflictProblem: components["schemas"]["Problem"] & {
      /** @constant */
      type: "/docs/errors/conflict";
      /** @constant */
      title: "Conflict with the current state";
      /** @constant */
      status: 409;
    };
    CreatedInvitation: {
      /** Format: uuid */
      id: string;
      /** @description In lower case */
      email: string;
      role: string;
      department: string | null;
      invitedBy: number | null;
      /** Format: date-time */
      createdAt: string;
      /** Format: date-time */
      expiresAt: string;
      acceptedAt: string | null;
      url: string | null;
    };
    /** @description The request came with a cookie from a page of another site. */
    CrossOriginProblem: components["schemas"]["Problem"] & {
      /** @constant */
      type: "/docs/errors/cross-origin";
      /** @constant */
      title: "Requests from other sites are not accepted";
      /** @constant */
      status: 403;
    };
    Delivery: {
      /** Format: uuid */
      id: string;
      /** @description Also the `webhook-id` header and the `id` in the body */
      eventId: string;
      /** @description `order.updated`, `post.updated`, `post.deleted`, `invoice.created`, `invoice.updated`, `subscription.activated`, `subscription.changed`, `subscription.ended`, `endpoint.test`, or a type of the app */
      eventType: string;
      /** Format: uuid */
      endpointId: string;
      status: components["schemas"]["DeliveryStatus"];
      /** Format: date-time */
      createdAt: string;
      nextAttemptAt: string | null;
      /** @description In order; the newest 20 */
      attempts: components["schemas"]["DeliveryAttempt"][];
    };
    DeliveryAttempt: {
      /** @description 0 is the schedule; every replay begins the next one */
      series: number;
      number: number;
      /** Format: date-time */
      startedAt: string;
      durationMs: number;
      statusCode: number | null;
      error: string | null;
      explanation: string | null;
      responseExcerpt: string | null;
    };
    DeliveryCount: {
      count: number;
      /** @description The time range has more than the 100,000 deliveries that are read, the newest ones: there may be more than `count` */
      isPartial: boolean;
    };
    DeliveryPage: {
      data: components["schemas"]["Delivery"][];
      nextCursor: string | null;
    };
    /** @enum {unknown} */
    DeliveryStatus: "pending" | "succeeded" | "exhausted";
    Document: {
      id: number;
      /** Format: uuid */
      tenantId: string;
      folderId: number;
      title: string;
      body: string;
      /** Format: date-time */
      createdAt: string;
      /** Format: date-time */
      updatedAt: string;
    };
    DocumentChange: {
      title?: string;
      body?: string;
    };
    DocumentPage: {
      data: components["schemas"]["Document"][];
      nextCursor: string | null;
    };
    Empty: Record<string, never>;
    EndpointForecast: {
      /** @enum {unknown} */
      kind: "certificate";
      /** Format: date-time */
      since: string;
      message: string;
    };
    EndpointReplay: {
      /** Format: uuid */
      id: string;
      /** Format: uuid */
      endpointId: string;
      /** Format: date-time */
      from: string;
      /** Format: date-time */
      to: string;
      status: components["schemas"]["DeliveryStatus"] | null;
      eventType: string | null;
      eventId: string | null;
      httpStatus: string | null;
      deliveryIds: string[] | null;
      /** @description Deliveries selected by the request. If there are more than are counted, it grows with `done` */
      total: number;
      /** @description Deliveries started so far */
      done: number;
      /** Format: date-time */
      createdAt: string;
      finishedAt: string | null;
      cancelledAt: string | null;
    };
    EndpointTest: {
      /** Format: uuid */
      endpointId: string;
      /** @description The name of a case, if a probe of the receiver sends it */
      probe?: string;
    };
    /** @description A test of the endpoint; nothing has happened */
    EndpointTestEvent: {
      /** @description Also the header `webhook-id`; the same in every attempt */
      id: string;
      /** @constant */
      type: "endpoint.test";
      /** Format: date-time */
      createdAt: string;
      data: components["schemas"]["EndpointTest"];
    };
    EndpointTestRequest: {
      type?: components["schemas"]["EventType"];
    };
    Event: components["schemas"]["OrderUpdatedEvent"] | components["schemas"]["PostUpdatedEvent"] | components["schemas"]["PostDeletedEvent"] | components["schemas"]["InvoiceCreatedEvent"] | components["schemas"]["InvoiceUpdatedEvent"] | components["schemas"]["SubscriptionActivatedEvent"] | components["schemas"]["SubscriptionChangedEvent"] | components["schemas"]["SubscriptionEndedEvent"] | components["schemas"]["EndpointTestEvent"];
    EventPage: {
      data: components["schemas"]["Event"][];
      nextCursor: string | null;
    };
    /** @enum {unknown} */
    EventType: "order.updated" | "post.updated" | "post.deleted" | "invoice.created" | "invoice.updated" | "subscription.activated" | "subscription.changed" | "subscription.ended" | "endpoint.test";
    EventTypeChange: {
      description: string;
      schema?: {
        [key: string]: unknown;
      } | null;
      example?: {
        [key: string]: unknown;
      } | null;
    };
    FieldError: {
      /** @enum {unknown} */
      in: "path" | "query" | "body" | "header";
      /** @description JSON Pointer (RFC 6901) to the value; empty for all of that part */
      pointer: string;
      detail: string;
    };
    Folder: {
      id: number;
      /** Format: uuid */
      tenantId: string;
      name: string;
      /** @description The team that owns it and its contents */
      teamId: number;
      parentId: number | null;
      /** Format: date-time */
      createdAt: string;
      /** Format: date-time */
      updatedAt: string;
    };
    /** @description `teamId` moves it directly to a team, `parentId` into another folder */
    FolderChange: {
      name?: string;
      teamId?: number;
      parentId?: number;
    };
    FolderPage: {
      data: components["schemas"]["Folder"][];
      nextCursor: string | null;
    };
    /** @description You are known, but you may not do this. */
    ForbiddenProblem: components["schemas"]["Problem"] & {
      /** @constant */
      type: "/docs/errors/forbidden";
      /** @constant */
      title: "Not allowed";
      /** @constant */
      status: 403;
    };
    /** @description Nothing was done. */
    IdempotencyKeyReusedProblem: components["schemas"]["Problem"] & {
      /** @constant */
      type: "/docs/errors/idempotency-key-reused";
      /** @constant */
      title: "The Idempotency-Key belongs to another request";
      /** @constant */
      status: 422;
    };
    Identity: {
      provider: string;
      /** @description Your id at the provider (`sub`) */
      subject: string;
      issuer: string;
      /** Format: date-time */
      createdAt: string;
    };
    IdentityLink: {
      /** @description Redirect the browser here */
      url: string;
    };
    IdentityPage: {
      data: components["schemas"]["Identity"][];
      nextCursor: string | null;
    };
    /** @description The error is on our side and has been logged. */
    InternalProblem: components["schemas"]["Problem"] & {
      /** @constant */
      type: "/docs/errors/internal";
      /** @constant */
      title: "Something went wrong";
      /** @constant */
      status: 500;
    };
    /** @description The API token of the request is not accepted. */
    InvalidTokenProblem: components["schemas"]["Problem"] & {
      /** @constant */
      type: "/docs/errors/invalid-token";
      /** @constant */
      title: "The token is not valid";
      /** @constant */
      status: 401;
    };
    Invitation: {
      /** Format: uuid */
      id: string;
      /** @description In lower case */
      email: string;
      role: string;
      department: string | null;
      invitedBy: number | null;
      /** Format: date-time */
      createdAt: string;
      /** Format: date-time */
      expiresAt: string;
      acceptedAt: string | null;
    };
    InvitationAnswer: {
      /** @description The secret of the invitation’s link, `link` in its query */
      link?: string;
    };
    InvitationPage: {
      data: components["schemas"]["Invitation"][];
      nextCursor: string | null;
    };
    Invoice: {
      id: number;
      /** Format: uuid */
      tenantId: string;
      /** @description Minor units of the currency */
      amount: number;
      currency: string;
      /** @description `paid`, `refunded` (the whole amount) or `disputed` */
      status: string;
      /** @description Minor units of the currency */
      amountRefunded: number;
      /** Format: date-time */
      createdAt: string;
    };
    /** @description A charge was paid, and its invoice created */
    InvoiceCreatedEvent: {
      /** @description Also the header `webhook-id`; the same in every attempt */
      id: string;
      /** @constant */
      type: "invoice.created";
      /** Format: date-time */
      createdAt: string;
      data: components["schemas"]["Invoice"];
    };
    InvoicePage: {
      data: components["schemas"]["Invoice"][];
      nextCursor: string | null;
    };
    /** @description A payment was refunded or disputed, or its dispute was won */
    InvoiceUpdatedEvent: {
      /** @description Also the header `webhook-id`; the same in every attempt */
      id: string;
      /** @constant */
      type: "invoice.updated";
      /** Format: date-time */
      createdAt: string;
      data: components["schemas"]["Invoice"];
    };
    KeySet: {
      keys: components["schemas"]["PublicKey"][];
    };
    /** @description A tenant with members keeps at least one admin. */
    LastAdminProblem: components["schemas"]["Problem"] & {
      /** @constant */
      type: "/docs/errors/last-admin";
      /** @constant */
      title: "Cannot remove the last admin";
      /** @constant */
      status: 409;
    };
    /** @description An account keeps at least one way to sign in. */
    LastSignInMethodProblem: components["schemas"]["Problem"] & {
      /** @constant */
      type: "/docs/errors/last-sign-in-method";
      /** @constant */
      title: "Cannot remove your only sign-in method";
      /** @constant */
      status: 409;
    };
    LatestProbe: {
      report: components["schemas"]["ProbeReport"] | null;
    };
    LineItem: {
      sku: string;
      quantity: number;
      /** @description Minor units of the currency */
      unitPrice: number;
    };
    LinkedBillingCustomer: {
      customer: string;
      userId: number | null;
    };
    /** @description No session was ended. */
    LogoutRefusedProblem: components["schemas"]["Problem"] & {
      /** @constant */
      type: "/docs/errors/logout-refused";
      /** @constant */
      title: "The logout was refused";
      /** @constant */
      status: 400;
    };
    /** @description A part of the request is missing or has a value that is not accepted. Nothing was changed. */
    MalformedProblem: components["schemas"]["Problem"] & {
      /** @constant */
      type: "/docs/errors/malformed";
      /** @constant */
      title: "The request is malformed";
      /** @constant */
      status: 400;
    };
    Membership: {
      /** Format: uuid */
      id: string;
      name: string;
      role: string;
      /** @description Whether it is the active tenant of this session */
      active: boolean;
    };
    MembershipPage: {
      data: components["schemas"]["Membership"][];
      nextCursor: string | null;
    };
    NewApiToken: {
      name: string;
      /**
       * Format: date-time
       * @description In the future, at most 366 days ahead; 90 days by default
       */
      expiresAt?: string;
      /** @description The permissions of the token; GET /me is always allowed. All your permissions by default. */
      permissions?: ("post:read" | "post:write" | "post:delete" | "user:manage" | "order:read" | "order:write" | "invoice:read" | "document:read" | "document:write")[];
    };
    NewAppEvent: {
      /** @description Lower-case words divided by full stops, such as `report.finished` */
      type: string;
      data: {
        [key: string]: unknown;
      };
      /** @description Your id of the event, which its deliveries have as `webhook-id`; published again with the same type and data it has no second effect. Without it we choose one. */
      id?: string;
    };
    NewAppEvents: {
      /** @description Lower-case words divided by full stops, such as `report.finished` */
      type?: string;
      data?: {
        [key: string]: unknown;
      };
      /** @description Your id of the event, which its deliveries have as `webhook-id`; published again with the same type and data it has no second effect. Without it we choose one. */
      id?: string;
      /** @description Several events instead of one: all are published or none. */
      events?: components["schemas"]["NewAppEvent"][];
    };
    NewAppToken: {
      name: string;
      /** @description What the app may do in every tenant; it may do nothing else. */
      permissions: ("webhook-endpoint:read" | "webhook-endpoint:create" | "webhook-endpoint:delete" | "event:publish" | "portal-link:create" | "portal-link:delete" | "member:read" | "event-type:read" | "event-type:update")[];
      /**
       * Format: date-time
       * @description In the future, at most 366 days ahead; 90 days by default
       */
      expiresAt?: string;
    };
    NewBillingReconciliation: {
      /** Format: date-time */
      from?: string;
      /** Format: date-time */
      to?: string;
      /** @description Count only, record nothing */
      dryRun?: boolean;
    };
    NewBillingReplay: {
      status: components["schemas"]["BillingEventStatus"];
      /** Format: date-time */
      from?: string;
      /** Format: date-time */
      to?: string;
    };
    NewDocument: {
      title: string;
      body: string;
      folderId: number;
    };
    NewEndpointReplay: {
      /** Format: date-time */
      from?: string;
      /** Format: date-time */
      to?: string;
      status?: components["schemas"]["DeliveryStatus"];
      /** @description `order.updated`, `post.updated`, `post.deleted`, `invoice.created`, `invoice.updated`, `subscription.activated`, `subscription.changed`, `subscription.ended`, `endpoint.test`, or a type of the app */
      eventType?: string;
      eventId?: string;
      /** @description Of the latest attempt: a status (`404`), a class (`4xx`), or `none` for no response */
      httpStatus?: string;
      /** @description Only these, in place of all other fields */
      deliveryIds?: string[];
    };
    /** @description Directly with a team, or nested in a folder and owned by its team */
    NewFolder: {
      name: string;
      teamId?: number;
      parentId?: number;
    };
    NewLineItem: {
      sku: string;
      quantity: number;
      /** @description Minor units of the currency */
      unitPrice: number;
    };
    NewOrder: {
      /** @description ISO 4217, such as `EUR`; that of the setting `CURRENCY` by default */
      currency?: string;
      lineItems: components["schemas"]["NewLineItem"][];
      shippingAddress: components["schemas"]["ShippingAddress"];
      cardLast4: string;
    };
    NewPost: {
      title: string;
      body: string;
      department?: string;
    };
    NewServiceToken: {
      name: string;
      /** @description What the service may do in your tenant; it may do nothing else. */
      permissions: ("post:read" | "post:create" | "post:update" | "post:delete" | "invoice:read" | "folder:read" | "folder:create" | "folder:update" | "folder:delete" | "team:read" | "team:create" | "team:update" | "team:delete" | "user:read" | "webhook-endpoint:read" | "webhook-endpoint:create" | "webhook-endpoint:update" | "webhook-endpoint:delete" | "delivery:read" | "delivery:replay" | "event:read" | "notification:read" | "audit:read" | "usage:read")[];
      /**
       * Format: date-time
       * @description In the future, at most 366 days ahead; 90 days by default
       */
      expiresAt?: string;
    };
    NewUser: {
      /** Format: email */
      email: string;
      role: components["schemas"]["Role"];
      department?: string;
    };
    NewWebhookEndpoint: {
      /** @description https, port 443 or 8443, a public host; no user name, password or fragment */
      url: string;
      description?: string | null;
      eventTypes?: string[] | null;
      signature?: components["schemas"]["SignatureProfile"];
      rateLimit?: {
        perSecond: number;
        burst?: number;
      } | null;
      /**
       * @description `thin`: `data` has only the `id` of the object, for receivers that fetch what they need
       * @enum {unknown}
       */
      payload?: "full" | "thin";
      /** @description Whether it gets trial deliveries while it is disabled, so that it may recover */
      recoverWhenDisabled?: boolean;
    };
    /** @description There is no such path or object, or you have no access to it. The response is the same in all cases. */
    NotFoundProblem: components["schemas"]["Problem"] & {
      /** @constant */
      type: "/docs/errors/not-found";
      /** @constant */
      title: "Not found";
      /** @constant */
      status: 404;
    };
    Notification: {
      id: number;
      /** @description endpoint.failing, endpoint.disabled, endpoint.recovering or endpoint.recovered; as a warning endpoint.certificate */
      kind: string;
      /** Format: uuid */
      endpointId: string;
      message: string;
      /** Format: date-time */
      createdAt: string;
      mailedAt: string | null;
    };
    NotificationPage: {
      data: components["schemas"]["Notification"][];
      nextCursor: string | null;
    };
    Order: {
      id: number;
      userId: number;
      /** @description ISO 4217, such as `EUR` */
      currency: string;
      lineItems: components["schemas"]["LineItem"][];
      shippingAddress: components["schemas"]["ShippingAddress"];
      cardLast4: string;
      /** Format: date-time */
      createdAt: string;
      /** Format: date-time */
      updatedAt: string;
    };
    OrderChange: {
      shippingAddress: components["schemas"]["ShippingAddress"];
    };
    OrderPage: {
      data: components["schemas"]["Order"][];
      nextCursor: string | null;
    };
    /** @description An order was changed */
    OrderUpdatedEvent: {
      /** @description Also the header `webhook-id`; the same in every attempt */
      id: string;
      /** @constant */
      type: "order.updated";
      /** Format: date-time */
      createdAt: string;
      data: components["schemas"]["Order"];
    };
    OwnInvitation: {
      /** Format: uuid */
      id: string;
      tenant: {
        /** Format: uuid */
        id: string;
        name: string;
      };
      role: string;
      department: string | null;
      inviter: string | null;
      /** Format: date-time */
      createdAt: string;
      /** Format: date-time */
      expiresAt: string;
    };
    /** @description This is for people: a service token cannot do it, whatever its permissions are. */
    PersonRequiredProblem: components["schemas"]["Problem"] & {
      /** @constant */
      type: "/docs/errors/person-required";
      /** @constant */
      title: "Service tokens are not accepted here";
      /** @constant */
      status: 403;
    };
    PortalLink: {
      /**
       * Format: uuid
       * @description Names the link and the session it opens
       */
      id: string;
      /** @description Lead the person there, in a frame or a window. Add `&theme=dark` for a dark page. */
      url: string;
      /**
       * Format: date-time
       * @description When it no longer opens
       */
      expiresAt: string;
    };
    Post: {
      id: number;
      /** Format: uuid */
      tenantId: string;
      authorId: number | null;
      /**
       * Format: uuid
       * @description The service token that created it; missing if it was a person
       */
      authorServiceId?: string;
      department: string | null;
      title: string;
      body: string;
      /** Format: date-time */
      createdAt: string;
      /** Format: date-time */
      updatedAt: string;
    };
    PostChange: {
      title?: string;
      body?: string;
    };
    /** @description A post was deleted; `data` is its last state */
    PostDeletedEvent: {
      /** @description Also the header `webhook-id`; the same in every attempt */
      id: string;
      /** @constant */
      type: "post.deleted";
      /** Format: date-time */
      createdAt: string;
      data: components["schemas"]["Post"];
    };
    PostPage: {
      data: components["schemas"]["Post"][];
      nextCursor: string | null;
    };
    /** @description A post was changed */
    PostUpdatedEvent: {
      /** @description Also the header `webhook-id`; the same in every attempt */
      id: string;
      /** @constant */
      type: "post.updated";
      /** Format: date-time */
      createdAt: string;
      data: components["schemas"]["Post"];
    };
    /** @description Nothing was changed. */
    PreconditionFailedProblem: components["schemas"]["Problem"] & {
      /** @constant */
      type: "/docs/errors/precondition-failed";
      /** @constant */
      title: "The object has changed";
      /** @constant */
      status: 412;
    };
    /** @description The browser tried to load a sign-in page in advance. */
    PrefetchRefusedProblem: components["schemas"]["Problem"] & {
      /** @constant */
      type: "/docs/errors/prefetch-refused";
      /** @constant */
      title: "Sign-in cannot be prefetched";
      /** @constant */
      status: 403;
    };
    /**
     * @description That of the worst fault; A is a receiver without a fault
     * @enum {unknown}
     */
    ProbeGrade: "A" | "B" | "C" | "D" | "E" | "F";
    ProbeReport: {
      /** Format: date-time */
      startedAt: string;
      grade: components["schemas"]["ProbeGrade"];
      profile: components["schemas"]["SignatureProfile"];
      matchingProfile: ("spec" | "standard" | "both") | null;
      faults: ({
          /** @enum {unknown} */
          code: "unreachable" | "refuses-correct" | "unverified" | "not-compared" | "missing-accepted" | "malformed-accepted" | "foreign-accepted" | "body-not-signed" | "profile" | "raw-bytes" | "rotation" | "slow-body" | "no-time-check" | "old-accepted" | "new-accepted" | "repeat-refused" | "unknown-version" | "slow-response";
          grade: components["schemas"]["ProbeGrade"];
          problem: string;
          remedy: string;
        })[];
      cases: ({
          /** @enum {unknown} */
          name: "correct" | "malformed-signature" | "missing-signature" | "foreign-signature" | "changed-byte" | "too-old" | "too-new" | "repeated" | "rotation" | "unknown-version" | "unusual-bytes" | "slow-connection";
          title: string;
          /**
           * @description `accept`: a response with a 2xx status; `refuse`: any other
           * @enum {unknown}
           */
          expected: "accept" | "refuse";
          accepted: boolean | null;
          statusCode: number | null;
          error: string | null;
          durationMs: number;
        })[];
    };
    Problem: {
      /** @description Identifies the problem: the path of its page, such as `/docs/errors/not-found` */
      type: string;
      title: string;
      status: number;
      detail?: string;
      /** @description The request ID */
      instance: string;
      /** @description Every refused value of a malformed request, at most 20, or 100 of a batch */
      errors?: components["schemas"]["FieldError"][];
    };
    Profile: {
      user: {
        id: number;
        name: string | null;
        email: string | null;
        /** Format: date-time */
        createdAt: string;
      };
      tenant: {
        /** Format: uuid */
        id: string;
        name: string;
      } | null;
      role: string | null;
      department: string | null;
      permissions: string[];
      plan: string | null;
      subscription: components["schemas"]["Subscription"] | null;
      /** @description Open invitations for e-mails that you have verified; empty with an API token. Accept one with `POST /invitations/{id}/accept`. */
      invitations: components["schemas"]["OwnInvitation"][];
    };
    PublicKey: {
      /** @enum {string} */
      kty: "OKP";
      /** @enum {string} */
      crv: "Ed25519";
      /** @description The public key, 32 bytes in base64url */
      x: string;
      /** @description Thumbprint of the key (RFC 7638) */
      kid: string;
      /** @enum {string} */
      alg: "EdDSA";
      /** @enum {string} */
      use: "sig";
    };
    PublishedEvent: {
      id: string;
      type: string;
      /** Format: date-time */
      createdAt: string;
    };
    PublishedEvents: {
      /** @description The events in the order of the request */
      data: components["schemas"]["PublishedEvent"][];
    };
    /** @description Nothing was stored. */
    QuotaExceededProblem: components["schemas"]["Problem"] & {
      /** @constant */
      type: "/docs/errors/quota-exceeded";
      /** @constant */
      title: "The storage of your tenant is full";
      /** @constant */
      status: 409;
    };
    /** @description Deliveries to it per second, and how many at once after a quiet time. Others wait. Null for no limit */
    RateLimit: {
      perSecond: number;
      burst: number;
    };
    /** @description This needs a sign-in of the last five minutes. */
    ReauthenticationRequiredProblem: components["schemas"]["Problem"] & {
      /** @constant */
      type: "/docs/errors/reauthentication-required";
      /** @constant */
      title: "Confirm your identity";
      /** @constant */
      status: 403;
    };
    /** @enum {unknown} */
    Role: "viewer" | "editor" | "admin";
    SecretRotation: {
      /** @description How long the previous secret still signs; 86400 by default */
      overlapSeconds?: number;
    };
    ServiceToken: {
      /** Format: uuid */
      id: string;
      name: string;
      /** @description Prefix and last four characters of the secret, to recognize it */
      hint: string;
      /** @description `resource:action`; it may do nothing else */
      permissions: string[];
      createdBy: number | null;
      /** Format: date-time */
      createdAt: string;
      /** Format: date-time */
      expiresAt: string;
      secretRotatedAt: string | null;
      lastUsedAt: string | null;
    };
    ServiceTokenChange: {
      name?: string;
      /** @description What the service may do in your tenant; it may do nothing else. */
      permissions?: ("post:read" | "post:create" | "post:update" | "post:delete" | "invoice:read" | "folder:read" | "folder:create" | "folder:update" | "folder:delete" | "team:read" | "team:create" | "team:update" | "team:delete" | "user:read" | "webhook-endpoint:read" | "webhook-endpoint:create" | "webhook-endpoint:update" | "webhook-endpoint:delete" | "delivery:read" | "delivery:replay" | "event:read" | "notification:read" | "audit:read" | "usage:read")[];
      /**
       * Format: date-time
       * @description In the future, at most 366 days ahead
       */
      expiresAt?: string;
    };
    ServiceTokenPage: {
      data: components["schemas"]["ServiceToken"][];
      nextCursor: string | null;
    };
    ServiceTokenWithSecret: {
      /** Format: uuid */
      id: string;
      name: string;
      /** @description Prefix and last four characters of the secret, to recognize it */
      hint: string;
      /** @description `resource:action`; it may do nothing else */
      permissions: string[];
      createdBy: number | null;
      /** Format: date-time */
      createdAt: string;
      /** Format: date-time */
      expiresAt: string;
      secretRotatedAt: string | null;
      lastUsedAt: string | null;
      /** @description The secret. It is not shown again. */
      token: string;
    };
    Session: {
      /**
       * Format: uuid
       * @description Id of the session, not the value of the cookie
       */
      id: string;
      /** @description True for the session of this request */
      current: boolean;
      /** Format: date-time */
      createdAt: string;
      /**
       * Format: date-time
       * @description To the minute
       */
      lastSeenAt: string;
      userAgent: string | null;
      ip: string | null;
    };
    SessionPage: {
      data: components["schemas"]["Session"][];
      nextCursor: string | null;
    };
    /** @description This needs a person who has signed in. */
    SessionRequiredProblem: components["schemas"]["Problem"] & {
      /** @constant */
      type: "/docs/errors/session-required";
      /** @constant */
      title: "API tokens are not accepted here";
      /** @constant */
      status: 403;
    };
    ShippingAddress: {
      name: string;
      line1: string;
      line2?: string;
      city: string;
      postalCode: string;
      /** @description ISO 3166-1 alpha-2 */
      country: string;
    };
    /**
     * @description `spec`: `v1,` and base64 of HMAC-SHA256 over `<timestamp>.<body>`, keyed with the secret string; `standard`: Standard Webhooks 1.0.0; `both`: `spec`, then `standard`
     * @enum {unknown}
     */
    SignatureProfile: "spec" | "standard" | "both";
    /** @description The identity provider’s response was not accepted. Nothing was changed. */
    SignInRefusedProblem: components["schemas"]["Problem"] & {
      /** @constant */
      type: "/docs/errors/sign-in-refused";
      /** @constant */
      title: "The sign-in was refused";
      /** @constant */
      status: 400;
    };
    Subscription: {
      /** @description `active`, `trialing`, `past_due` (the plan stays), `unpaid`, `paused`, `canceled`, `incomplete` or `incomplete_expired` */
      status: string;
      currentPeriodEnd: string | null;
      cancelsAt: string | null;
    };
    /** @description A user’s subscription gave them a plan that they did not have; sent to their own tenant */
    SubscriptionActivatedEvent: {
      /** @description Also the header `webhook-id`; the same in every attempt */
      id: string;
      /** @constant */
      type: "subscription.activated";
      /** Format: date-time */
      createdAt: string;
      data: components["schemas"]["SubscriptionActivation"];
    };
    SubscriptionActivation: {
      userId: number;
      plan: string;
    };
    SubscriptionChange: {
      userId: number;
      plan: string | null;
      /** @description `active`, `trialing`, `past_due` (the plan stays), `unpaid`, `paused`, `canceled`, `incomplete` or `incomplete_expired` */
      status: string;
      currentPeriodEnd: string | null;
      cancelsAt: string | null;
    };
    /** @description A user’s subscription has another plan, status, period or end; sent to their own tenant */
    SubscriptionChangedEvent: {
      /** @description Also the header `webhook-id`; the same in every attempt */
      id: string;
      /** @constant */
      type: "subscription.changed";
      /** Format: date-time */
      createdAt: string;
      data: components["schemas"]["SubscriptionChange"];
    };
    /** @description A user’s subscription ended and with it their plan; sent to their own tenant */
    SubscriptionEndedEvent: {
      /** @description Also the header `webhook-id`; the same in every attempt */
      id: string;
      /** @constant */
      type: "subscription.ended";
      /** Format: date-time */
      createdAt: string;
      data: components["schemas"]["SubscriptionChange"];
    };
    Team: {
      id: number;
      /** Format: uuid */
      tenantId: string;
      name: string;
      /** Format: date-time */
      createdAt: string;
      /** Format: date-time */
      updatedAt: string;
    };
    TeamMember: {
      userId: number;
      /** Format: date-time */
      createdAt: string;
    };
    TeamMemberPage: {
      data: components["schemas"]["TeamMember"][];
      nextCursor: string | null;
    };
    TeamName: {
      name: string;
    };
    TeamPage: {
      data: components["schemas"]["Team"][];
      nextCursor: string | null;
    };
    Tenant: {
      /** Format: uuid */
      id: string;
      name: string;
    };
    TenantChoice: {
      /** Format: uuid */
      tenantId: string;
    };
    TenantDeletion: {
      name: string;
    };
    TenantName: {
      name: string;
    };
    /** @description The body was not read to its end. */
    TooLargeProblem: components["schemas"]["Problem"] & {
      /** @constant */
      type: "/docs/errors/too-large";
      /** @constant */
      title: "The request body is too large";
      /** @constant */
      status: 413;
    };
    /** @description The request was not processed. */
    TooManyRequestsProblem: components["schemas"]["Problem"] & {
      /** @constant */
      type: "/docs/errors/too-many-requests";
      /** @constant */
      title: "Too many requests";
      /** @constant */
      status: 429;
    };
    /** @description A person is a member of a hundred tenants at most when they create another. */
    TooManyTenantsProblem: components["schemas"]["Problem"] & {
      /** @constant */
      type: "/docs/errors/too-many-tenants";
      /** @constant */
      title: "Too many tenants";
      /** @constant */
      status: 409;
    };
    /** @description The request has no session, or its session has ended. */
    UnauthenticatedProblem: components["schemas"]["Problem"] & {
      /** @constant */
      type: "/docs/errors/unauthenticated";
      /** @constant */
      title: "Sign in to continue";
      /** @constant */
      status: 401;
    };
    /** @description The request was not processed. */
    UnavailableProblem: components["schemas"]["Problem"] & {
      /** @constant */
      type: "/docs/errors/unavailable";
      /** @constant */
      title: "Temporarily unavailable";
      /** @constant */
      status: 503;
    };
    /** @description The body was not read. */
    UnsupportedMediaTypeProblem: components["schemas"]["Problem"] & {
      /** @constant */
      type: "/docs/errors/unsupported-media-type";
      /** @constant */
      title: "Unsupported media type";
      /** @constant */
      status: 415;
    };
    Usage: {
      /** @description Orders, posts, documents, folders, teams, team members and invitations */
      resources: {
        rows: number;
        /** @description UTF-8 bytes of the stored texts */
        bytes: number;
        maxRows: number | null;
        maxBytes: number | null;
      };
      /** @description Events, deliveries, attempts, replays and notifications */
      events: {
        rows: number;
        /** @description UTF-8 bytes of the stored texts */
        bytes: number;
        maxRows: number | null;
        maxBytes: number | null;
      };
    };
    User: {
      id: number;
      email: string | null;
      /** @description In this tenant */
      role: string;
      department: string | null;
      billingCustomer: string | null;
      /**
       * Format: date-time
       * @description When the user became a member
       */
      createdAt: string;
    };
    UserChange: {
      role?: components["schemas"]["Role"];
      department?: string | null;
    };
    UserPage: {
      data: components["schemas"]["User"][];
      nextCursor: string | null;
    };
    WebhookEndpoint: {
      /** Format: uuid */
      id: string;
      url: string;
      description: string | null;
      eventTypes: string[] | null;
      signature: components["schemas"]["SignatureProfile"];
      rateLimit: components["schemas"]["RateLimit"] | null;
      /**
       * @description `thin`: `data` has only the `id` of the object, for receivers that fetch what they need
       * @enum {unknown}
       */
      payload: "full" | "thin";
      /** @description Whether it gets trial deliveries while it is disabled, so that it may recover */
      recoverWhenDisabled: boolean;
      /** @enum {unknown} */
      status: "active" | "failing" | "disabled";
      /** Format: date-time */
      createdAt: string;
      failingSince: string | null;
      disabledAt: string | null;
      /** @description More than `status` says. `retrying`: the latest attempt failed and further ones follow, so that a failure is visible at once; `recovering`: it accepts deliveries again, and those that failed follow */
      health: {
        /** @enum {unknown} */
        state: "healthy" | "retrying" | "failing" | "recovering" | "disabled";
        /** Format: date-time */
        since: string;
        reason: string | null;
      };
      /** @description Warnings that it may fail soon: its certificate expires in less than 14 days */
      forecasts: components["schemas"]["EndpointForecast"][];
    };
    WebhookEndpointChange: {
      /** @description https, port 443 or 8443, a public host; no user name, password or fragment */
      url?: string;
      description?: string | null;
      eventTypes?: string[] | null;
      signature?: components["schemas"]["SignatureProfile"];
      rateLimit?: {
        perSecond: number;
        burst?: number;
      } | null;
      /**
       * @description `thin`: `data` has only the `id` of the object, for receivers that fetch what they need
       * @enum {unknown}
       */
      payload?: "full" | "thin";
      /** @description Whether it gets trial deliveries while it is disabled, so that it may recover */
      recoverWhenDisabled?: boolean;
    };
    WebhookEndpointPage: {
      data: components["schemas"]["WebhookEndpoint"][];
      nextCursor: string | null;
    };
    WebhookEndpointWithSecret: {
      /** Format: uuid */
      id: string;
      url: string;
      description: string | null;
      eventTypes: string[] | null;
      signature: components["schemas"]["SignatureProfile"];
      rateLimit: components["schemas"]["RateLimit"] | null;
      /**
       * @description `thin`: `data` has only the `id` of the object, for receivers that fetch what they need
       * @enum {unknown}
       */
      payload: "full" | "thin";
      /** @description Whether it gets trial deliveries while it is disabled, so that it may recover */
      recoverWhenDisabled: boolean;
      /** @enum {unknown} */
      status: "active" | "failing" | "disabled";
      /** Format: date-time */
      createdAt: string;
      failingSince: string | null;
      disabledAt: string | null;
      /** @description More than `status` says. `retrying`: the latest attempt failed and further ones follow, so that a failure is visible at once; `recovering`: it accepts deliveries again, and those that failed follow */
      health: {
        /** @enum {unknown} */
        state: "healthy" | "retrying" | "failing" | "recovering" | "disabled";
        /** Format: date-time */
        since: string;
        reason: string | null;
      };
      /** @description Warnings that it may fail soon: its certificate expires in less than 14 days */
      forecasts: components["schemas"]["EndpointForecast"][];
      /** @description `whsec_` and base64; store it now, it is not shown again */
      secret: string;
    };
    WebhookEndpointWithSecrets: {
      /** Format: uuid */
      id: string;
      url: string;
      description: string | null;
      eventTypes: string[] | null;
      signature: components["schemas"]["SignatureProfile"];
      rateLimit: components["schemas"]["RateLimit"] | null;
      /**
       * @description `thin`: `data` has only the `id` of the object, for receivers that fetch what they need
       * @enum {unknown}
       */
      payload: "full" | "thin";
      /** @description Whether it gets trial deliveries while it is disabled, so that it may recover */
      recoverWhenDisabled: boolean;
      /** @enum {unknown} */
      status: "active" | "failing" | "disabled";
      /** Format: date-time */
      createdAt: string;
      failingSince: string | null;
      disabledAt: string | null;
      /** @description More than `status` says. `retrying`: the latest attempt failed and further ones follow, so that a failure is visible at once; `recovering`: it accepts deliveries again, and those that failed follow */
      health: {
        /** @enum {unknown} */
        state: "healthy" | "retrying" | "failing" | "recovering" | "disabled";
        /** Format: date-time */
        since: string;
        reason: string | null;
      };
      /** @description Warnings that it may fail soon: its certificate expires in less than 14 days */
      forecasts: components["schemas"]["EndpointForecast"][];
      /** @description `whsec_` and base64; store it now, it is not shown again */
      secret: string;
      previousSecretExpiresAt: string | null;
    };
  };
  responses: {
    /** @description The confirmation does not match */
    ConfirmationMismatch: {
      content: {
        "application/problem+json": components["schemas"]["ConfirmationMismatchProblem"];
      };
    };
    /** @description Conflict with the current state */
    Conflict: {
      content: {
        "application/problem+json": components["schemas"]["ConflictProblem"];
      };
    };
    /** @description Conflict with the current state; The storage of your tenant is full */
    ConflictOrQuotaExceeded: {
      content: {
        "application/problem+json": components["schemas"]["ConflictProblem"] | components["schemas"]["QuotaExceededProblem"];
      };
    };
    /** @description Not allowed */
    Forbidden: {
      content: {
        "application/problem+json": components["schemas"]["ForbiddenProblem"];
      };
    };
    /** @description Not allowed; Requests from other sites are not accepted */
    ForbiddenOrCrossOrigin: {
      content: {
        "application/problem+json": components["schemas"]["ForbiddenProblem"] | components["schemas"]["CrossOriginProblem"];
      };
    };
    /** @description Not allowed; Service tokens are not accepted here */
    ForbiddenOrPersonRequired: {
      content: {
        "application/problem+json": components["schemas"]["ForbiddenProblem"] | components["schemas"]["PersonRequiredProblem"];
      };
    };
    /** @description Not allowed; Service tokens are not accepted here; Requests from other sites are not accepted */
    ForbiddenOrPersonRequiredOrCrossOrigin: {
      content: {
        "application/problem+json": components["schemas"]["ForbiddenProblem"] | components["schemas"]["PersonRequiredProblem"] | components["schemas"]["CrossOriginProblem"];
      };
    };
    /** @description Not allowed; API tokens are not accepted here; Service tokens are not accepted here */
    ForbiddenOrSessionRequiredOrPersonRequired: {
      content: {
        "application/problem+json": components["schemas"]["ForbiddenProblem"] | components["schemas"]["SessionRequiredProblem"] | components["schemas"]["PersonRequiredProblem"];
      };
    };
    /** @description Not allowed; API tokens are not accepted here; Service tokens are not accepted here; Requests from other sites are not accepted */
    ForbiddenOrSessionRequiredOrPersonRequiredOrCrossOrigin: {
      content: {
        "application/problem+json": components["schemas"]["ForbiddenProblem"] | components["schemas"]["SessionRequiredProblem"] | components["schemas"]["PersonRequiredProblem"] | components["schemas"]["CrossOriginProblem"];
      };
    };
    /** @description Not allowed; API tokens are not accepted here; Service tokens are not accepted here; Confirm your identity; Requests from other sites are not accepted */
    ForbiddenOrSessionRequiredOrPersonRequiredOrReauthenticationRequiredOrCrossOrigin: {
      content: {
        "application/problem+json": components["schemas"]["ForbiddenProblem"] | components["schemas"]["SessionRequiredProblem"] | components["schemas"]["PersonRequiredProblem"] | components["schemas"]["ReauthenticationRequiredProblem"] | components["schemas"]["CrossOriginProblem"];
      };
    };
    /** @description The Idempotency-Key belongs to another request */
    IdempotencyKeyReused: {
      content: {
        "application/problem+json": components["schemas"]["IdempotencyKeyReusedProblem"];
      };
    };
    /** @description Something went wrong */
    Internal: {
      content: {
        "application/problem+json": components["schemas"]["InternalProblem"];
      };
    };
    /** @description Cannot remove the last admin */
    LastAdmin: {
      content: {
        "application/problem+json": components["schemas"]["LastAdminProblem"];
      };
    };
    /** @description Cannot remove the last admin; Conflict with the current state */
    LastAdminOrConflict: {
      content: {
        "application/problem+json": components["schemas"]["LastAdminProblem"] | components["schemas"]["ConflictProblem"];
      };
    };
    /** @description Cannot remove your only sign-in method */
    LastSignInMethod: {
      content: {
        "application/problem+json": components["schemas"]["LastSignInMethodProblem"];
      };
    };
    /** @description The logout was refused */
    LogoutRefused: {
      content: {
        "application/problem+json": components["schemas"]["LogoutRefusedProblem"];
      };
    };
    /** @description The request is malformed */
    Malformed: {
      content: {
        "application/problem+json": components["schemas"]["MalformedProblem"];
      };
    };
    /** @description Not found */
    NotFound: {
      content: {
        "application/problem+json": components["schemas"]["NotFoundProblem"];
      };
    };
    /** @description The object has changed */
    PreconditionFailed: {
      content: {
        "application/problem+json": components["schemas"]["PreconditionFailedProblem"];
      };
    };
    /** @description Sign-in cannot be prefetched */
    PrefetchRefused: {
      content: {
        "application/problem+json": components["schemas"]["PrefetchRefusedProblem"];
      };
    };
    /** @description The storage of your tenant is full */
    QuotaExceeded: {
      content: {
        "application/problem+json": components["schemas"]["QuotaExceededProblem"];
      };
    };
    /** @description The request body is too large */
    TooLarge: {
      content: {
        "application/problem+json": components["schemas"]["TooLargeProblem"];
      };
    };
    /** @description Too many requests */
    TooManyRequests: {
      headers: {
        /** @description Seconds to wait before the next attempt */
        "Retry-After"?: number;
      };
      content: {
        "application/problem+json": components["schemas"]["TooManyRequestsProblem"];
      };
    };
    /** @description Too many tenants; Conflict with the current state */
    TooManyTenantsOrConflict: {
      content: {
        "application/problem+json": components["schemas"]["TooManyTenantsProblem"] | components["schemas"]["ConflictProblem"];
      };
    };
    /** @description Sign in to continue */
    Unauthenticated: {
      content: {
        "application/problem+json": components["schemas"]["UnauthenticatedProblem"];
      };
    };
    /** @description Sign in to continue; The token is not valid */
    UnauthenticatedOrInvalidToken: {
      content: {
        "application/problem+json": components["schemas"]["UnauthenticatedProblem"] | components["schemas"]["InvalidTokenProblem"];
      };
    };
    /** @description Temporarily unavailable */
    Unavailable: {
      headers: {
        /** @description Seconds to wait before the next attempt */
        "Retry-After"?: number;
      };
      content: {
        "application/problem+json": components["schemas"]["UnavailableProblem"];
      };
    };
    /** @description Unsupported media type */
    UnsupportedMediaType: {
      content: {
        "application/problem+json": components["schemas"]["UnsupportedMediaTypeProblem"];
      };
    };
  };
  parameters: never;
  requestBodies: never;
  headers: {
    /**
     * @description What is left of the limit that counted the request, and the seconds until it is full again (draft-ietf-httpapi-ratelimit-headers; not sent if limits are switched off)
     * @example "api";r=599;t=60
     */
    RateLimit: string;
    /**
     * @description That limit: requests in a window of so many seconds (draft-ietf-httpapi-ratelimit-headers; not sent if limits are switched off)
     * @example "api";q=600;w=60
     */
    "RateLimit-Policy": string;
  };
  pathItems: never;
}

export type $defs = Record<string, never>;

export type external = Record<string, never>;

export interface operations {

  /**
   * Get the keys that verify identity tokens
   * @description The keys that verify `gatehouse-identity` (RFC 7517). A key is published before it signs, and as long as its tokens are valid. Fetch the set again for a token with a `kid` that you do not know.
   */
  getIdentityKeys: {
    responses: {
      /** @description The key set */
      200: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["KeySet"];
        };
      };
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /** Start a sign-in; redirects to the provider */
  startSignIn: {
    parameters: {
      query?: {
        provider?: string;
        /** @description Authenticate again in the current session, with an identity linked to your account */
        reauthenticate?: "true";
        /** @description Where to return to: a path of `SIGN_IN_RETURN_TO` or of one of our pages, or a URL of an origin in `APP_ORIGINS`, without a fragment. Anything else returns to the first path of `SIGN_IN_RETURN_TO`. */
        return_to?: string;
      };
    };
    responses: {
      /** @description A page to choose a provider, if there are several */
      200: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "text/html": string;
        };
      };
      /** @description To the provider */
      302: {
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["Unauthenticated"];
      403: components["responses"]["PrefetchRefused"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /** The redirect URI: where the provider sends the browser back to */
  finishSignIn: {
    responses: {
      /** @description Signed in; a page that leads to the URL that the sign-in was for */
      200: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "text/html": string;
        };
      };
      /** @description Signed in; to the page that the sign-in was for */
      302: {
        content: never;
      };
      /** @description Invalid state, or the sign-in was refused */
      400: {
        content: {
          "text/plain": "bad state";
          "application/problem+json": components["schemas"]["SignInRefusedProblem"];
        };
      };
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * The redirect URI for providers that post their response
   * @description For providers with `response_mode=form_post`. The browser sends no cookie with a form of another site, so it is redirected to `GET /auth/callback` with the known fields; all others are dropped. A form without exactly one `state` is answered as there.
   */
  passOnSignIn: {
    responses: {
      /** @description To the callback, with the fields as its query */
      303: {
        content: never;
      };
      /** @description No state, or several */
      400: {
        content: {
          "text/plain": "bad state";
        };
      };
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * The page after signing out
   * @description The page after signing out, also the redirect URI of the provider's own logout. Any `state` is accepted, or none; a valid one adds the provider's name to the page. A signed-in user is redirected to the start page.
   */
  showSignedOutPage: {
    responses: {
      /** @description The page */
      200: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "text/html": string;
        };
      };
      /** @description Signed in; to the start page */
      302: {
        content: never;
      };
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Ask who sent a request to the app behind the proxy
   * @description For the forward authentication of a proxy (`forward_auth` of Caddy, ForwardAuth of Traefik, `auth_request` of nginx). Headers of the response tell who sent the request; each is empty if there is nothing to tell. An app should believe `gatehouse-identity` alone, which is signed. A service token has no user.
   *
   * The same-origin rule applies to the request to the app: with a cookie, a method that is not safe must come from our own origin, and so must any method if the proxy does not name it.
   *
   * Roles viewer, editor, admin: own account. A service token needs no permission.
   */
  verifyRequest: {
    parameters: {
      query?: {
        /** @description A permission that the caller must have */
        permission?: "post:read" | "post:write" | "post:delete" | "user:manage" | "order:read" | "order:write" | "invoice:read" | "document:read" | "document:write" | "post:create" | "post:update" | "folder:read" | "folder:create" | "folder:update" | "folder:delete" | "team:read" | "team:create" | "team:update" | "team:delete" | "user:read" | "webhook-endpoint:read" | "webhook-endpoint:create" | "webhook-endpoint:update" | "webhook-endpoint:delete" | "delivery:read" | "delivery:replay" | "event:read" | "notification:read" | "audit:read" | "usage:read";
        /** @description The plan that the caller must have */
        plan?: string;
      };
      header?: {
        /** @description Method of the request to the app (Caddy, Traefik) */
        "x-forwarded-method"?: string;
        /** @description Its path and query */
        "x-forwarded-uri"?: string;
        /** @description The same of nginx */
        "x-original-method"?: string;
        /** @description Its URL. A proxy that sends it gets no redirect, but 401 with `Location` */
        "x-original-url"?: string;
      };
    };
    responses: {
      /** @description The request may pass */
      204: {
        headers: {
          /** @description Id of the user; empty for a service token */
          "gatehouse-user"?: string;
          /** @description Id of the active tenant */
          "gatehouse-tenant"?: string;
          /** @description Role in this tenant */
          "gatehouse-role"?: string;
          /** @description Address, if a provider trusted for it has verified it */
          "gatehouse-email"?: string;
          /** @description Permissions, comma-separated */
          "gatehouse-permissions"?: string;
          /** @description Plan */
          "gatehouse-plan"?: string;
          /** @description The same facts as a JSON Web Token, valid for 60 seconds */
          "gatehouse-identity"?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: never;
      };
      /** @description Not signed in, and a browser opens a page: to sign-in, which returns to it */
      302: {
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrCrossOrigin"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * The event types of your app, by name
   * @description An app token needs `event-type:read`.
   */
  listEventTypes: {
    parameters: {
      query?: {
        /** @description Items of a page at most; it ends earlier once it has 1 MiB */
        limit?: number;
        /** @description `nextCursor` of the previous page */
        cursor?: string;
      };
    };
    responses: {
      /** @description A page of app event types */
      200: {
        headers: {
          /** @description Paths of the first, the next and the previous page (RFC 8288) */
          Link?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["AppEventTypePage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrPersonRequired"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Register an event type of your app, or replace its description
   * @description An event of the type is checked against the schema when it is published. Events that were published before stay as they are. 409 for a type of this program itself, or if there are 500 types.
   *
   * An app token needs `event-type:update`.
   */
  putEventType: {
    parameters: {
      path: {
        /**
         * @description Lower-case words divided by full stops, such as `report.finished`
         * @example text
         */
        name: string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "description": "Production",
         *   "schema": {},
         *   "example": {}
         * }
         */
        "application/json": components["schemas"]["EventTypeChange"];
      };
    };
    responses: {
      /** @description The app event type */
      200: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["AppEventType"];
        };
      };
      /** @description The new app event type */
      201: {
        headers: {
          /** @description Path of the new object */
          Location?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["AppEventType"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrPersonRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Publish an event of your app to a tenant, or up to 100
   * @description The events and their deliveries are stored in one commit, and sent like all others to the endpoints of the tenant that have chosen the type. The type must be registered (`PUT /event-types/{name}`), and `data` must match its schema. If one event of several is wrong, none is published and each fault is named. 409 if an id belongs to another event, or if the tenant has used up its storage for events.
   *
   * An app token needs `event:publish`.
   */
  publishEvents: {
    parameters: {
      header?: {
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "type": "report.finished",
         *   "data": {}
         * }
         */
        "application/json": components["schemas"]["NewAppEvents"];
      };
    };
    responses: {
      /** @description The new published events */
      201: {
        headers: {
          /** @description Path of the new object */
          Location?: string;
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["PublishedEvents"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrPersonRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["ConflictOrQuotaExceeded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Make a link to the webhook pages of a tenant
   * @description It works once, within five minutes, and opens a session of one hour that sees the webhooks of this tenant and nothing else: endpoints, deliveries, replays, events and their types. The person needs no account. What is done there is in the audit log of the tenant as done by the app token, with the `id` of the link. The session ends with the app token, and when this permission is taken from it. A tenant has at most 100 links and sessions; one more ends the oldest. 429 after 60 links for one tenant within a minute.
   *
   * An app token needs `portal-link:create`.
   */
  createPortalLink: {
    parameters: {
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    requestBody?: {
      content: {
        /** @example {} */
        "application/json": components["schemas"]["Empty"];
      };
    };
    responses: {
      /** @description The new portal link */
      201: {
        headers: {
          /** @description Path of the new object */
          Location?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["PortalLink"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrPersonRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * End a link, or the session that it has opened
   * @description For instance when the person signs out of your app. A request of the session that is under way ends first.
   *
   * An app token needs `portal-link:delete`.
   */
  deletePortalLink: {
    parameters: {
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        linkId: string;
      };
    };
    responses: {
      /** @description The link or session has ended */
      204: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrPersonRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * List the members of a tenant, newest members first
   * @description An app token needs `member:read`.
   */
  listTenantMembers: {
    parameters: {
      query?: {
        /** @description Items of a page at most; it ends earlier once it has 1 MiB */
        limit?: number;
        /** @description `nextCursor` of the previous page */
        cursor?: string;
        /** @description Joined at this time or later */
        from?: string;
        /** @description Joined before this time */
        to?: string;
        role?: components["schemas"]["Role"];
        department?: string;
        /** @description `-createdAt`: newest first, the default; `createdAt`: oldest first */
        sort?: "-createdAt" | "createdAt";
        /** @description Part of an e-mail, in any case, or the id of a user */
        search?: string;
      };
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    responses: {
      /** @description A page of users */
      200: {
        headers: {
          /** @description Paths of the first, the next and the previous page (RFC 8288) */
          Link?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["UserPage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrPersonRequired"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * List the endpoints of a tenant, newest first
   * @description An app token needs `webhook-endpoint:read`.
   */
  listTenantWebhookEndpoints: {
    parameters: {
      query?: {
        /** @description Items of a page at most; it ends earlier once it has 1 MiB */
        limit?: number;
        /** @description `nextCursor` of the previous page */
        cursor?: string;
      };
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    responses: {
      /** @description A page of webhook endpoints */
      200: {
        headers: {
          /** @description Paths of the first, the next and the previous page (RFC 8288) */
          Link?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["WebhookEndpointPage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Create an endpoint of a tenant; its signing secret is not shown again
   * @description A tenant has at most 50 endpoints, and a URL once (409). The URL is checked now, and again before every attempt.
   *
   * An app token needs `webhook-endpoint:create`.
   */
  createTenantWebhookEndpoint: {
    parameters: {
      header?: {
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "url": "https://app.acme.example/webhooks",
         *   "description": "Production",
         *   "eventTypes": [
         *     "order.updated"
         *   ],
         *   "signature": "spec",
         *   "rateLimit": {
         *     "perSecond": 1,
         *     "burst": 1
         *   },
         *   "payload": "full",
         *   "recoverWhenDisabled": true
         * }
         */
        "application/json": components["schemas"]["NewWebhookEndpoint"];
      };
    };
    responses: {
      /** @description The new webhook endpoint with secret */
      201: {
        headers: {
          /** @description Path of the new object */
          Location?: string;
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["WebhookEndpointWithSecret"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Delete an endpoint of a tenant and its deliveries; nothing more is sent to it
   * @description An app token needs `webhook-endpoint:delete`.
   */
  deleteTenantWebhookEndpoint: {
    parameters: {
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        endpointId: string;
      };
    };
    responses: {
      /** @description The endpoint is deleted */
      204: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Sign out: 303 to a page for a form, otherwise 204
   * @description A form is answered with 303 to the signed-out page. If the provider of the sign-in supports RP-initiated logout, that page offers it, and the 204 response has `Link: <…>; rel="urn:gatehouse:provider-logout"`: redirect the browser there; it comes back to `/auth/signed-out`. The session here ends in any case, also if the provider does not answer.
   *
   * Roles viewer, editor, admin: own account.
   */
  signOut: {
    responses: {
      /** @description The session has ended */
      204: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: never;
      };
      /** @description For a form: to the page after signing out */
      303: {
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrCrossOrigin"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Your live sessions, newest first
   * @description Roles viewer, editor, admin: own account.
   */
  listSessions: {
    parameters: {
      query?: {
        /** @description Items of a page at most; it ends earlier once it has 1 MiB */
        limit?: number;
        /** @description `nextCursor` of the previous page */
        cursor?: string;
      };
    };
    responses: {
      /** @description A page of sessions */
      200: {
        headers: {
          /** @description Paths of the first, the next and the previous page (RFC 8288) */
          Link?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["SessionPage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequired"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * End all your sessions except this one
   * @description Roles viewer, editor, admin: own account.
   */
  endOtherSessions: {
    responses: {
      /** @description All other sessions have ended */
      204: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrCrossOrigin"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * One of your live sessions
   * @description Roles viewer, editor, admin: own account.
   */
  getSession: {
    parameters: {
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    responses: {
      /** @description The session */
      200: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["Session"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequired"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * End one of your sessions; ending this one signs you out
   * @description Roles viewer, editor, admin: own account.
   */
  endSession: {
    parameters: {
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    responses: {
      /** @description The session has ended */
      204: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * The identities that you can sign in with
   * @description Roles viewer, editor, admin: own account.
   */
  listIdentities: {
    parameters: {
      query?: {
        /** @description Items of a page at most; it ends earlier once it has 1 MiB */
        limit?: number;
        /** @description `nextCursor` of the previous page */
        cursor?: string;
      };
    };
    responses: {
      /** @description A page of identities */
      200: {
        headers: {
          /** @description Paths of the first, the next and the previous page (RFC 8288) */
          Link?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["IdentityPage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequired"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Start linking another identity: 302 for a form, otherwise the URL as JSON
   * @description Requires a sign-in or re-authentication (`/auth/login?reauthenticate=true`) within the last five minutes; otherwise 403 `/docs/errors/reauthentication-required`.
   *
   * Roles viewer, editor, admin: own account.
   */
  linkIdentity: {
    parameters: {
      path: {
        /** @example acme */
        provider: string;
      };
    };
    responses: {
      /** @description The identity link */
      200: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["IdentityLink"];
        };
      };
      /** @description For a form: to the provider */
      302: {
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrReauthenticationRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Unlink an identity; ends your other sessions signed in through its provider
   * @description Requires a sign-in or re-authentication (`/auth/login?reauthenticate=true`) within the last five minutes; otherwise 403 `/docs/errors/reauthentication-required`. 409 for the last identity.
   *
   * Roles viewer, editor, admin: own account.
   */
  unlinkIdentity: {
    parameters: {
      path: {
        /** @example acme */
        provider: string;
        /** @example 248289761001 */
        subject: string;
      };
    };
    responses: {
      /** @description The identity is unlinked */
      204: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrReauthenticationRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["LastSignInMethod"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Your API tokens in all your tenants, newest first
   * @description Expired tokens are listed for another 30 days.
   *
   * Roles viewer, editor, admin: own account.
   */
  listApiTokens: {
    parameters: {
      query?: {
        /** @description Items of a page at most; it ends earlier once it has 1 MiB */
        limit?: number;
        /** @description `nextCursor` of the previous page */
        cursor?: string;
      };
    };
    responses: {
      /** @description A page of API tokens */
      200: {
        headers: {
          /** @description Paths of the first, the next and the previous page (RFC 8288) */
          Link?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["ApiTokenPage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequired"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Create an API token for your active tenant; its secret is returned only here
   * @description Sent as `Authorization: Bearer gth_…`, not together with a session cookie (400). It acts for you in the tenant that is active now, with your role at the time of use, and ends with your membership there. Creating one requires a sign-in or re-authentication (`/auth/login?reauthenticate=true`) within the last five minutes; otherwise 403 `/docs/errors/reauthentication-required`. 409 if you have 50 tokens.
   *
   * Roles viewer, editor, admin: own account.
   */
  createApiToken: {
    parameters: {
      header?: {
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "name": "Nightly import",
         *   "expiresAt": "2027-05-21T09:30:00.000Z",
         *   "permissions": [
         *     "post:read"
         *   ]
         * }
         */
        "application/json": components["schemas"]["NewApiToken"];
      };
    };
    responses: {
      /** @description The new API token with secret */
      201: {
        headers: {
          /** @description Path of the new object */
          Location?: string;
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["ApiTokenWithSecret"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrReauthenticationRequiredOrCrossOrigin"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * One of your API tokens
   * @description Roles viewer, editor, admin: own account.
   */
  getApiToken: {
    parameters: {
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    responses: {
      /** @description The API token */
      200: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["ApiToken"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequired"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Delete an API token; its next request is refused
   * @description Roles viewer, editor, admin: own account.
   */
  deleteApiToken: {
    parameters: {
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    responses: {
      /** @description The token is deleted */
      204: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * The audit log of your account, newest first
   * @description Roles viewer, editor, admin: own account.
   */
  listAccountAudit: {
    parameters: {
      query?: {
        /** @description Items of a page at most; it ends earlier once it has 1 MiB */
        limit?: number;
        /** @description `nextCursor` of the previous page */
        cursor?: string;
        /** @description At this time or later */
        from?: string;
        /** @description Before this time */
        to?: string;
        /** @description Such as `sign-in` */
        action?: string;
        /** @description `-at`: newest first, the default; `at`: oldest first */
        sort?: "-at" | "at";
      };
    };
    responses: {
      /** @description A page of audit entries */
      200: {
        headers: {
          /** @description Paths of the first, the next and the previous page (RFC 8288) */
          Link?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["AuditEntryPage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequired"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Download everything that is kept about you
   * @description One download at a time. Profile, identities, sessions, memberships, invitations, tokens without secrets, orders, posts, documents and invoices that you can read, events about your orders, and your audit log. The response is written while it is read: if your session ends meanwhile, the connection is closed before the JSON is complete.
   *
   * Roles viewer, editor, admin: own account.
   */
  exportAccount: {
    responses: {
      /** @description The account export */
      200: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["AccountExport"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequired"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Delete your account
   * @description Requires a sign-in or re-authentication (`/auth/login?reauthenticate=true`) within the last five minutes; otherwise 403 `/docs/errors/reauthentication-required`. Ends every session and API token and deletes identities, memberships, orders, and tenants of which you are the only member; provider tokens are revoked. Your posts stay without an author. The last admin of a tenant with other members is refused (409 `/docs/errors/last-admin`, whose detail names the tenants): make another member an admin, or delete the tenant.
   *
   * Roles viewer, editor, admin: own account.
   */
  deleteAccount: {
    requestBody: {
      content: {
        /**
         * @example {
         *   "confirm": "delete"
         * }
         */
        "application/json": components["schemas"]["AccountDeletion"];
      };
    };
    responses: {
      /** @description The account is deleted, and the session has ended */
      204: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrReauthenticationRequiredOrCrossOrigin"];
      409: components["responses"]["LastAdmin"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * List the tenants you are a member of, by name
   * @description Roles viewer, editor, admin: own account.
   */
  listTenants: {
    parameters: {
      query?: {
        /** @description Items of a page at most; it ends earlier once it has 1 MiB */
        limit?: number;
        /** @description `nextCursor` of the previous page */
        cursor?: string;
      };
    };
    responses: {
      /** @description A page of memberships */
      200: {
        headers: {
          /** @description Paths of the first, the next and the previous page (RFC 8288) */
          Link?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["MembershipPage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequired"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Create a tenant with you as its admin
   * @description It is not the active tenant of your session; `POST /session/tenant` switches to it. A member of a hundred tenants cannot create another (409).
   *
   * Roles viewer, editor, admin: own account.
   */
  createTenant: {
    parameters: {
      header?: {
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "name": "Acme"
         * }
         */
        "application/json": components["schemas"]["TenantName"];
      };
    };
    responses: {
      /** @description The new membership */
      201: {
        headers: {
          /** @description Path of the new object */
          Location?: string;
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["Membership"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrCrossOrigin"];
      409: components["responses"]["TooManyTenantsOrConflict"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Switch the active tenant of your session: 204, or 303 for a form
   * @description The session gets a new id, and the previous cookie is no longer valid.
   *
   * Roles viewer, editor, admin: own account.
   */
  switchTenant: {
    requestBody: {
      content: {
        /**
         * @example {
         *   "tenantId": "0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60"
         * }
         */
        "application/json": components["schemas"]["TenantChoice"];
      };
    };
    responses: {
      /** @description The tenant is active, and the session has a new id */
      204: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: never;
      };
      /** @description For a form: to the page it was sent from */
      303: {
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Leave a tenant
   * @description Ends your sessions and API tokens in it, and your open invitations to others. Your posts stay without an author. If it is the active tenant, your session moves to another one of yours under a new id; without another one you are signed out and your user is deleted, with identities and orders. The last admin cannot leave (409).
   *
   * Roles viewer, editor, admin: own account.
   */
  leaveTenant: {
    parameters: {
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    responses: {
      /** @description You are no member any more */
      204: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["LastAdmin"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Read your user, tenant, role, permissions and invitations
   * @description Roles viewer, editor, admin: own account.
   */
  getMe: {
    responses: {
      /** @description The profile */
      200: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["Profile"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrPersonRequired"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Accept an invitation: 204, or 303 for a form
   * @description You become a member of the tenant. The active tenant of your session stays; `POST /session/tenant` switches it. For the person who has the invited e-mail verified by a provider trusted for it, or signed in with it and has the secret of the invitation’s link; 404 for anyone else, and when it was withdrawn, answered or has expired. `GET /me` lists your invitations.
   *
   * Roles viewer, editor, admin: own account.
   */
  acceptInvitation: {
    parameters: {
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    requestBody?: {
      content: {
        /**
         * @example {
         *   "link": "Zq3vN8xKf2LrW6tYbD1sHc9mPaE4gJ7uVnQ0iRoX5kM"
         * }
         */
        "application/json": components["schemas"]["InvitationAnswer"];
      };
    };
    responses: {
      /** @description The invitation is answered */
      204: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: never;
      };
      /** @description For a form: to the account page */
      303: {
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Decline an invitation: 204, or 303 for a form
   * @description It is no longer shown to you. The tenant is not told. For the person who has the invited e-mail verified by a provider trusted for it, or signed in with it and has the secret of the invitation’s link; 404 for anyone else, and when it was withdrawn, answered or has expired. `GET /me` lists your invitations.
   *
   * Roles viewer, editor, admin: own account.
   */
  declineInvitation: {
    parameters: {
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    requestBody?: {
      content: {
        /**
         * @example {
         *   "link": "Zq3vN8xKf2LrW6tYbD1sHc9mPaE4gJ7uVnQ0iRoX5kM"
         * }
         */
        "application/json": components["schemas"]["InvitationAnswer"];
      };
    };
    responses: {
      /** @description The invitation is answered */
      204: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: never;
      };
      /** @description For a form: to the account page */
      303: {
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * List your orders in all your tenants, newest first
   * @description Roles viewer, editor, admin: own. A limited token needs `order:read`.
   */
  listOrders: {
    parameters: {
      query?: {
        /** @description Items of a page at most; it ends earlier once it has 1 MiB */
        limit?: number;
        /** @description `nextCursor` of the previous page */
        cursor?: string;
        /** @description Created at this time or later */
        from?: string;
        /** @description Created before this time */
        to?: string;
        /** @description Placed in this tenant */
        tenantId?: string;
        /** @description `-createdAt`: newest first, the default; `createdAt`: oldest first */
        sort?: "-createdAt" | "createdAt";
      };
    };
    responses: {
      /** @description A page of orders */
      200: {
        headers: {
          /** @description Paths of the first, the next and the previous page (RFC 8288) */
          Link?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["OrderPage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrPersonRequired"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Place an order
   * @description The order is yours, in your active tenant.
   *
   * Roles viewer, editor, admin: own. A limited token needs `order:write`.
   */
  createOrder: {
    parameters: {
      header?: {
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "currency": "EUR",
         *   "lineItems": [
         *     {
         *       "sku": "GATE-OAK-200",
         *       "quantity": 1,
         *       "unitPrice": 45900
         *     }
         *   ],
         *   "shippingAddress": {
         *     "name": "Ada Okafor",
         *     "line1": "1 Harbour Street",
         *     "line2": "Second floor",
         *     "city": "Lisbon",
         *     "postalCode": "1100-012",
         *     "country": "PT"
         *   },
         *   "cardLast4": "4242"
         * }
         */
        "application/json": components["schemas"]["NewOrder"];
      };
    };
    responses: {
      /** @description The new order */
      201: {
        headers: {
          /** @description Path of the new object */
          Location?: string;
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["Order"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrPersonRequiredOrCrossOrigin"];
      409: components["responses"]["ConflictOrQuotaExceeded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Read one of your orders
   * @description Roles viewer, editor, admin: own. A limited token needs `order:read`.
   */
  getOrder: {
    parameters: {
      header?: {
        /** @description The ETag of the object as you know it: 304 if it has not changed */
        "if-none-match"?: string;
      };
      path: {
        /** @example 42 */
        id: number;
      };
    };
    responses: {
      /** @description The order */
      200: {
        headers: {
          /** @description The version of the object, for `If-Match` and `If-None-Match` */
          ETag?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["Order"];
        };
      };
      /** @description The object has not changed */
      304: {
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrPersonRequired"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Change the shipping address of one of your orders
   * @description Roles viewer, editor, admin: own. A limited token needs `order:write`.
   */
  updateOrder: {
    parameters: {
      header?: {
        /** @description The ETag of the object as you read it. If it has changed since then, nothing is done: 412. */
        "if-match"?: string;
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
      path: {
        /** @example 42 */
        id: number;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "shippingAddress": {
         *     "name": "Ada Okafor",
         *     "line1": "1 Harbour Street",
         *     "line2": "Second floor",
         *     "city": "Lisbon",
         *     "postalCode": "1100-012",
         *     "country": "PT"
         *   }
         * }
         */
        "application/json": components["schemas"]["OrderChange"];
      };
    };
    responses: {
      /** @description The order as it is now */
      200: {
        headers: {
          /** @description The version of the object, for `If-Match` and `If-None-Match` */
          ETag?: string;
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["Order"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrPersonRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["ConflictOrQuotaExceeded"];
      412: components["responses"]["PreconditionFailed"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * List the posts of your tenant, newest first
   * @description Roles viewer, editor, admin: of the active tenant. A limited token needs `post:read`. A service token needs `post:read`.
   */
  listPosts: {
    parameters: {
      query?: {
        /** @description Items of a page at most; it ends earlier once it has 1 MiB */
        limit?: number;
        /** @description `nextCursor` of the previous page */
        cursor?: string;
        /** @description Created at this time or later */
        from?: string;
        /** @description Created before this time */
        to?: string;
        /** @description Written by this user */
        authorId?: number;
        department?: string;
        /** @description `-createdAt`: newest first, the default; `createdAt`: oldest first */
        sort?: "-createdAt" | "createdAt";
      };
    };
    responses: {
      /** @description A page of posts */
      200: {
        headers: {
          /** @description Paths of the first, the next and the previous page (RFC 8288) */
          Link?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["PostPage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["Forbidden"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Create a post in your tenant
   * @description Without `department` the post has yours.
   *
   * Roles editor, admin: of the active tenant. A limited token needs `post:write`. A service token needs `post:create`.
   */
  createPost: {
    parameters: {
      header?: {
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "title": "Opening hours",
         *   "body": "The gate opens at nine.",
         *   "department": "engineering"
         * }
         */
        "application/json": components["schemas"]["NewPost"];
      };
    };
    responses: {
      /** @description The new post */
      201: {
        headers: {
          /** @description Path of the new object */
          Location?: string;
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["Post"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrCrossOrigin"];
      409: components["responses"]["ConflictOrQuotaExceeded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Read a post of your tenant
   * @description Roles viewer, editor, admin: of the active tenant. A limited token needs `post:read`. A service token needs `post:read`.
   */
  getPost: {
    parameters: {
      header?: {
        /** @description The ETag of the object as you know it: 304 if it has not changed */
        "if-none-match"?: string;
      };
      path: {
        /** @example 42 */
        id: number;
      };
    };
    responses: {
      /** @description The post */
      200: {
        headers: {
          /** @description The version of the object, for `If-Match` and `If-None-Match` */
          ETag?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["Post"];
        };
      };
      /** @description The object has not changed */
      304: {
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Delete a post of your tenant
   * @description Roles admin: of the active tenant. A limited token needs `post:delete`. A service token needs `post:delete`.
   */
  deletePost: {
    parameters: {
      header?: {
        /** @description The ETag of the object as you read it. If it has changed since then, nothing is done: 412. */
        "if-match"?: string;
      };
      path: {
        /** @example 42 */
        id: number;
      };
    };
    responses: {
      /** @description The post is deleted */
      204: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      412: components["responses"]["PreconditionFailed"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Change a post of your tenant
   * @description An editor may change posts of their own department, from 09:00:00 until before 17:00:00 UTC; otherwise 403.
   *
   * Roles editor, admin: of the active tenant; editors only in their own department; editors only from 09:00 until before 17:00 UTC. A limited token needs `post:write`. A service token needs `post:update`.
   */
  updatePost: {
    parameters: {
      header?: {
        /** @description The ETag of the object as you read it. If it has changed since then, nothing is done: 412. */
        "if-match"?: string;
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
      path: {
        /** @example 42 */
        id: number;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "title": "Opening hours",
         *   "body": "The gate opens at nine."
         * }
         */
        "application/json": components["schemas"]["PostChange"];
      };
    };
    responses: {
      /** @description The post as it is now */
      200: {
        headers: {
          /** @description The version of the object, for `If-Match` and `If-None-Match` */
          ETag?: string;
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["Post"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["ConflictOrQuotaExceeded"];
      412: components["responses"]["PreconditionFailed"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * List the invoices of your tenant, newest first
   * @description Roles viewer, editor, admin: of the active tenant. A limited token needs `invoice:read`. A service token needs `invoice:read`.
   */
  listInvoices: {
    parameters: {
      query?: {
        /** @description Items of a page at most; it ends earlier once it has 1 MiB */
        limit?: number;
        /** @description `nextCursor` of the previous page */
        cursor?: string;
        /** @description Created at this time or later */
        from?: string;
        /** @description Created before this time */
        to?: string;
        currency?: string;
        /** @description `-createdAt`: newest first, the default; `createdAt`: oldest first */
        sort?: "-createdAt" | "createdAt";
      };
    };
    responses: {
      /** @description A page of invoices */
      200: {
        headers: {
          /** @description Paths of the first, the next and the previous page (RFC 8288) */
          Link?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["InvoicePage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["Forbidden"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Read an invoice of your tenant
   * @description Roles viewer, editor, admin: of the active tenant. A limited token needs `invoice:read`. A service token needs `invoice:read`.
   */
  getInvoice: {
    parameters: {
      path: {
        /** @example 42 */
        id: number;
      };
    };
    responses: {
      /** @description The invoice */
      200: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["Invoice"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * List the documents of your teams, newest first
   * @description Only members of the team that owns its folder can reach a document; administrators cannot.
   *
   * Roles viewer, editor, admin: of the active tenant, in a folder of one of the user’s teams. A limited token needs `document:read`.
   */
  listDocuments: {
    parameters: {
      query?: {
        /** @description Items of a page at most; it ends earlier once it has 1 MiB */
        limit?: number;
        /** @description `nextCursor` of the previous page */
        cursor?: string;
        /** @description Created at this time or later */
        from?: string;
        /** @description Created before this time */
        to?: string;
        /** @description In this folder, not in the folders within it */
        folderId?: number;
        /** @description `-createdAt`: newest first, the default; `createdAt`: oldest first */
        sort?: "-createdAt" | "createdAt";
      };
    };
    responses: {
      /** @description A page of documents */
      200: {
        headers: {
          /** @description Paths of the first, the next and the previous page (RFC 8288) */
          Link?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["DocumentPage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrPersonRequired"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Create a document in a folder of one of your teams
   * @description Only members of the team that owns its folder can reach a document; administrators cannot.
   *
   * Roles editor, admin: of the active tenant, in a folder of one of the user’s teams. A limited token needs `document:write`.
   */
  createDocument: {
    parameters: {
      header?: {
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "title": "Opening hours",
         *   "body": "The gate opens at nine.",
         *   "folderId": 1
         * }
         */
        "application/json": components["schemas"]["NewDocument"];
      };
    };
    responses: {
      /** @description The new document */
      201: {
        headers: {
          /** @description Path of the new object */
          Location?: string;
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["Document"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrPersonRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["ConflictOrQuotaExceeded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Read a document of one of your teams
   * @description Only members of the team that owns its folder can reach a document; administrators cannot.
   *
   * Roles viewer, editor, admin: of the active tenant, in a folder of one of the user’s teams. A limited token needs `document:read`.
   */
  getDocument: {
    parameters: {
      header?: {
        /** @description The ETag of the object as you know it: 304 if it has not changed */
        "if-none-match"?: string;
      };
      path: {
        /** @example 42 */
        id: number;
      };
    };
    responses: {
      /** @description The document */
      200: {
        headers: {
          /** @description The version of the object, for `If-Match` and `If-None-Match` */
          ETag?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["Document"];
        };
      };
      /** @description The object has not changed */
      304: {
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrPersonRequired"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Change a document of one of your teams
   * @description Only members of the team that owns its folder can reach a document; administrators cannot.
   *
   * Roles editor, admin: of the active tenant, in a folder of one of the user’s teams. A limited token needs `document:write`.
   */
  updateDocument: {
    parameters: {
      header?: {
        /** @description The ETag of the object as you read it. If it has changed since then, nothing is done: 412. */
        "if-match"?: string;
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
      path: {
        /** @example 42 */
        id: number;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "title": "Opening hours",
         *   "body": "The gate opens at nine."
         * }
         */
        "application/json": components["schemas"]["DocumentChange"];
      };
    };
    responses: {
      /** @description The document as it is now */
      200: {
        headers: {
          /** @description The version of the object, for `If-Match` and `If-None-Match` */
          ETag?: string;
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["Document"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrPersonRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["ConflictOrQuotaExceeded"];
      412: components["responses"]["PreconditionFailed"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * List the members of your tenant, newest members first
   * @description Open invitations are at `GET /invitations`.
   *
   * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `user:read`.
   */
  listUsers: {
    parameters: {
      query?: {
        /** @description Items of a page at most; it ends earlier once it has 1 MiB */
        limit?: number;
        /** @description `nextCursor` of the previous page */
        cursor?: string;
        /** @description Joined at this time or later */
        from?: string;
        /** @description Joined before this time */
        to?: string;
        role?: components["schemas"]["Role"];
        department?: string;
        /** @description `-createdAt`: newest first, the default; `createdAt`: oldest first */
        sort?: "-createdAt" | "createdAt";
        /** @description Part of an e-mail, in any case, or the id of a user */
        search?: string;
      };
    };
    responses: {
      /** @description A page of users */
      200: {
        headers: {
          /** @description Paths of the first, the next and the previous page (RFC 8288) */
          Link?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["UserPage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["Forbidden"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Invite a user to your tenant
   * @description The person who has that e-mail becomes a member when they accept: verified by a provider trusted for it, or with the link, which contains a secret and works once, and a sign-in with that e-mail. Whether such a person exists is not told. With a mail server the link is mailed, and only its recipient has it; otherwise it is `url`. An invitation is valid for 14 days, until it is withdrawn, or until its inviter is no longer an admin; a second one for the same e-mail replaces it. 409 for the e-mail of a member.
   *
   * Roles admin: of the active tenant. A limited token needs `user:manage`.
   */
  inviteUser: {
    parameters: {
      header?: {
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "email": "ada@acme.example",
         *   "role": "viewer",
         *   "department": "engineering"
         * }
         */
        "application/json": components["schemas"]["NewUser"];
      };
    };
    responses: {
      /** @description The new created invitation */
      201: {
        headers: {
          /** @description Path of the new object */
          Location?: string;
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["CreatedInvitation"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrPersonRequiredOrCrossOrigin"];
      409: components["responses"]["ConflictOrQuotaExceeded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Remove a member from your tenant
   * @description Ends their sessions and API tokens in it, and their open invitations. Their posts stay without an author. A user without any membership left is deleted, with identities and orders. The last admin cannot be removed or lose the role (409).
   *
   * Roles admin: of the active tenant. A limited token needs `user:manage`.
   */
  removeUser: {
    parameters: {
      path: {
        /** @example 42 */
        id: number;
      };
    };
    responses: {
      /** @description The user is no member any more */
      204: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrPersonRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["LastAdmin"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Change a member of your tenant; it applies from their next request
   * @description `role` and `department` apply to your tenant only. The open invitations of an admin who loses the role end. The last admin cannot be removed or lose the role (409).
   *
   * Roles admin: of the active tenant. A limited token needs `user:manage`.
   */
  updateUser: {
    parameters: {
      header?: {
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
      path: {
        /** @example 42 */
        id: number;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "role": "viewer",
         *   "department": "engineering"
         * }
         */
        "application/json": components["schemas"]["UserChange"];
      };
    };
    responses: {
      /** @description The user as it is now */
      200: {
        headers: {
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["User"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrPersonRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["LastAdminOrConflict"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Delete the active tenant of your session
   * @description Requires its exact name (409 `/docs/errors/confirmation-mismatch` for another one), and a sign-in or re-authentication within the last five minutes. All access to the tenant ends at once and nothing is sent from it any more; its data, events, deliveries and jobs are deleted within minutes. Members without another tenant are deleted with their accounts. Your session moves to another tenant of yours under a new id; without another one you are signed out and your account is deleted too.
   *
   * Roles admin: of the active tenant.
   */
  deleteTenant: {
    requestBody: {
      content: {
        /**
         * @example {
         *   "name": "Acme"
         * }
         */
        "application/json": components["schemas"]["TenantDeletion"];
      };
    };
    responses: {
      /** @description The tenant is deleted */
      204: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrReauthenticationRequiredOrCrossOrigin"];
      409: components["responses"]["ConfirmationMismatch"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Rename the active tenant
   * @description Roles admin: of the active tenant.
   */
  renameTenant: {
    parameters: {
      header?: {
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "name": "Acme"
         * }
         */
        "application/json": components["schemas"]["TenantName"];
      };
    };
    responses: {
      /** @description The tenant as it is now */
      200: {
        headers: {
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["Tenant"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * List the open invitations to your tenant, newest first
   * @description Includes expired invitations, which can no longer be accepted.
   *
   * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `user:read`.
   */
  listInvitations: {
    parameters: {
      query?: {
        /** @description Items of a page at most; it ends earlier once it has 1 MiB */
        limit?: number;
        /** @description `nextCursor` of the previous page */
        cursor?: string;
      };
    };
    responses: {
      /** @description A page of invitations */
      200: {
        headers: {
          /** @description Paths of the first, the next and the previous page (RFC 8288) */
          Link?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["InvitationPage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["Forbidden"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Withdraw an open invitation
   * @description Roles admin: of the active tenant. A limited token needs `user:manage`.
   */
  withdrawInvitation: {
    parameters: {
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    responses: {
      /** @description The invitation is withdrawn */
      204: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrPersonRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * List the folders of your tenant, newest first
   * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `folder:read`.
   */
  listFolders: {
    parameters: {
      query?: {
        /** @description Items of a page at most; it ends earlier once it has 1 MiB */
        limit?: number;
        /** @description `nextCursor` of the previous page */
        cursor?: string;
      };
    };
    responses: {
      /** @description A page of folders */
      200: {
        headers: {
          /** @description Paths of the first, the next and the previous page (RFC 8288) */
          Link?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["FolderPage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["Forbidden"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Create a folder, directly with a team or nested in another folder
   * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `folder:create`.
   */
  createFolder: {
    parameters: {
      header?: {
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "name": "Handbook",
         *   "teamId": 1
         * }
         */
        "application/json": components["schemas"]["NewFolder"];
      };
    };
    responses: {
      /** @description The new folder */
      201: {
        headers: {
          /** @description Path of the new object */
          Location?: string;
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["Folder"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["ConflictOrQuotaExceeded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Read a folder of your tenant
   * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `folder:read`.
   */
  getFolder: {
    parameters: {
      header?: {
        /** @description The ETag of the object as you know it: 304 if it has not changed */
        "if-none-match"?: string;
      };
      path: {
        /** @example 42 */
        id: number;
      };
    };
    responses: {
      /** @description The folder */
      200: {
        headers: {
          /** @description The version of the object, for `If-Match` and `If-None-Match` */
          ETag?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["Folder"];
        };
      };
      /** @description The object has not changed */
      304: {
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Delete an empty folder; 409 while it has folders or documents
   * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `folder:delete`.
   */
  deleteFolder: {
    parameters: {
      header?: {
        /** @description The ETag of the object as you read it. If it has changed since then, nothing is done: 412. */
        "if-match"?: string;
      };
      path: {
        /** @example 42 */
        id: number;
      };
    };
    responses: {
      /** @description The folder is deleted */
      204: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["Conflict"];
      412: components["responses"]["PreconditionFailed"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Rename or move a folder
   * @description A folder moves with its contents, which then belong to the team of its new place. 409 if it would contain itself.
   *
   * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `folder:update`.
   */
  updateFolder: {
    parameters: {
      header?: {
        /** @description The ETag of the object as you read it. If it has changed since then, nothing is done: 412. */
        "if-match"?: string;
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
      path: {
        /** @example 42 */
        id: number;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "name": "Handbook"
         * }
         */
        "application/json": components["schemas"]["FolderChange"];
      };
    };
    responses: {
      /** @description The folder as it is now */
      200: {
        headers: {
          /** @description The version of the object, for `If-Match` and `If-None-Match` */
          ETag?: string;
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["Folder"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["ConflictOrQuotaExceeded"];
      412: components["responses"]["PreconditionFailed"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * List the teams of your tenant, newest first
   * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `team:read`.
   */
  listTeams: {
    parameters: {
      query?: {
        /** @description Items of a page at most; it ends earlier once it has 1 MiB */
        limit?: number;
        /** @description `nextCursor` of the previous page */
        cursor?: string;
      };
    };
    responses: {
      /** @description A page of teams */
      200: {
        headers: {
          /** @description Paths of the first, the next and the previous page (RFC 8288) */
          Link?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["TeamPage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["Forbidden"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Create a team without members
   * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `team:create`.
   */
  createTeam: {
    parameters: {
      header?: {
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "name": "Engineering"
         * }
         */
        "application/json": components["schemas"]["TeamName"];
      };
    };
    responses: {
      /** @description The new team */
      201: {
        headers: {
          /** @description Path of the new object */
          Location?: string;
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["Team"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrCrossOrigin"];
      409: components["responses"]["ConflictOrQuotaExceeded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Read a team of your tenant
   * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `team:read`.
   */
  getTeam: {
    parameters: {
      header?: {
        /** @description The ETag of the object as you know it: 304 if it has not changed */
        "if-none-match"?: string;
      };
      path: {
        /** @example 42 */
        id: number;
      };
    };
    responses: {
      /** @description The team */
      200: {
        headers: {
          /** @description The version of the object, for `If-Match` and `If-None-Match` */
          ETag?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["Team"];
        };
      };
      /** @description The object has not changed */
      304: {
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Delete a team of your tenant; 409 while it owns folders
   * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `team:delete`.
   */
  deleteTeam: {
    parameters: {
      header?: {
        /** @description The ETag of the object as you read it. If it has changed since then, nothing is done: 412. */
        "if-match"?: string;
      };
      path: {
        /** @example 42 */
        id: number;
      };
    };
    responses: {
      /** @description The team is deleted */
      204: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["Conflict"];
      412: components["responses"]["PreconditionFailed"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Rename a team of your tenant
   * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `team:update`.
   */
  updateTeam: {
    parameters: {
      header?: {
        /** @description The ETag of the object as you read it. If it has changed since then, nothing is done: 412. */
        "if-match"?: string;
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
      path: {
        /** @example 42 */
        id: number;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "name": "Engineering"
         * }
         */
        "application/json": components["schemas"]["TeamName"];
      };
    };
    responses: {
      /** @description The team as it is now */
      200: {
        headers: {
          /** @description The version of the object, for `If-Match` and `If-None-Match` */
          ETag?: string;
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["Team"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["ConflictOrQuotaExceeded"];
      412: components["responses"]["PreconditionFailed"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * List the members of a team, by user id
   * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `team:read`.
   */
  listTeamMembers: {
    parameters: {
      query?: {
        /** @description Items of a page at most; it ends earlier once it has 1 MiB */
        limit?: number;
        /** @description `nextCursor` of the previous page */
        cursor?: string;
      };
      path: {
        /** @example 42 */
        id: number;
      };
    };
    responses: {
      /** @description A page of team members */
      200: {
        headers: {
          /** @description Paths of the first, the next and the previous page (RFC 8288) */
          Link?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["TeamMemberPage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Read a membership of a team
   * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `team:read`.
   */
  getTeamMember: {
    parameters: {
      path: {
        /** @example 42 */
        id: number;
        /** @example 7 */
        userId: number;
      };
    };
    responses: {
      /** @description The team member */
      200: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["TeamMember"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Add a member of your tenant to a team
   * @description Changes nothing for a member of the team.
   *
   * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `team:update`.
   */
  addTeamMember: {
    parameters: {
      path: {
        /** @example 42 */
        id: number;
        /** @example 7 */
        userId: number;
      };
    };
    responses: {
      /** @description The user is a member of the team */
      204: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["QuotaExceeded"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Remove a member from a team; access to its documents ends at once
   * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `team:update`.
   */
  removeTeamMember: {
    parameters: {
      path: {
        /** @example 42 */
        id: number;
        /** @example 7 */
        userId: number;
      };
    };
    responses: {
      /** @description The user is no member of the team any more */
      204: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * List the audit log of your tenant, newest first
   * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `audit:read`.
   */
  listTenantAudit: {
    parameters: {
      query?: {
        /** @description Items of a page at most; it ends earlier once it has 1 MiB */
        limit?: number;
        /** @description `nextCursor` of the previous page */
        cursor?: string;
        /** @description At this time or later */
        from?: string;
        /** @description Before this time */
        to?: string;
        /** @description Such as `sign-in` */
        action?: string;
        /** @description `-at`: newest first, the default; `at`: oldest first */
        sort?: "-at" | "at";
        /** @description By this user */
        userId?: number;
      };
    };
    responses: {
      /** @description A page of audit entries */
      200: {
        headers: {
          /** @description Paths of the first, the next and the previous page (RFC 8288) */
          Link?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["AuditEntryPage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["Forbidden"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * The service tokens of your tenant, newest first
   * @description Expired tokens are listed for another 30 days.
   *
   * Roles admin: of the active tenant.
   */
  listServiceTokens: {
    parameters: {
      query?: {
        /** @description Items of a page at most; it ends earlier once it has 1 MiB */
        limit?: number;
        /** @description `nextCursor` of the previous page */
        cursor?: string;
      };
    };
    responses: {
      /** @description A page of service tokens */
      200: {
        headers: {
          /** @description Paths of the first, the next and the previous page (RFC 8288) */
          Link?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["ServiceTokenPage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequired"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Create a service token for your tenant; its secret is returned only here
   * @description Sent as `Authorization: Bearer gths_…`, not together with a session cookie (400). It acts for the tenant and for no person: it may do what its permissions name, within the tenant, and has limits of its own. It ends when it expires or is deleted, or with the tenant, and not when you leave. Requires a sign-in or re-authentication (`/auth/login?reauthenticate=true`) within the last five minutes; otherwise 403 `/docs/errors/reauthentication-required`. 409 if the tenant has 50 service tokens.
   *
   * Roles admin: of the active tenant.
   */
  createServiceToken: {
    parameters: {
      header?: {
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "name": "Nightly import",
         *   "permissions": [
         *     "post:read"
         *   ],
         *   "expiresAt": "2027-05-21T09:30:00.000Z"
         * }
         */
        "application/json": components["schemas"]["NewServiceToken"];
      };
    };
    responses: {
      /** @description The new service token with secret */
      201: {
        headers: {
          /** @description Path of the new object */
          Location?: string;
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["ServiceTokenWithSecret"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrReauthenticationRequiredOrCrossOrigin"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Read a service token of your tenant
   * @description Roles admin: of the active tenant.
   */
  getServiceToken: {
    parameters: {
      header?: {
        /** @description The ETag of the object as you know it: 304 if it has not changed */
        "if-none-match"?: string;
      };
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    responses: {
      /** @description The service token */
      200: {
        headers: {
          /** @description The version of the object, for `If-Match` and `If-None-Match` */
          ETag?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["ServiceToken"];
        };
      };
      /** @description The object has not changed */
      304: {
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequired"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Delete a service token; its next request is refused
   * @description Roles admin: of the active tenant.
   */
  deleteServiceToken: {
    parameters: {
      header?: {
        /** @description The ETag of the object as you read it. If it has changed since then, nothing is done: 412. */
        "if-match"?: string;
      };
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    responses: {
      /** @description The token is deleted */
      204: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      412: components["responses"]["PreconditionFailed"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Change name, permissions or expiry of a service token
   * @description Applies from its next request. Requires a sign-in or re-authentication (`/auth/login?reauthenticate=true`) within the last five minutes; otherwise 403 `/docs/errors/reauthentication-required`. `lastUsedAt` is part of the ETag, so `If-Match` may also fail because the token was used.
   *
   * Roles admin: of the active tenant.
   */
  updateServiceToken: {
    parameters: {
      header?: {
        /** @description The ETag of the object as you read it. If it has changed since then, nothing is done: 412. */
        "if-match"?: string;
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "name": "Nightly import",
         *   "permissions": [
         *     "post:read"
         *   ],
         *   "expiresAt": "2027-05-21T09:30:00.000Z"
         * }
         */
        "application/json": components["schemas"]["ServiceTokenChange"];
      };
    };
    responses: {
      /** @description The service token as it is now */
      200: {
        headers: {
          /** @description The version of the object, for `If-Match` and `If-None-Match` */
          ETag?: string;
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["ServiceToken"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrReauthenticationRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["Conflict"];
      412: components["responses"]["PreconditionFailed"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Give a service token a new secret; it is returned only here
   * @description The previous secret ends at once. To change over without a gap, create a second token and delete the first. Requires a sign-in or re-authentication (`/auth/login?reauthenticate=true`) within the last five minutes; otherwise 403 `/docs/errors/reauthentication-required`. 409 if another request rotates it at the same time.
   *
   * Roles admin: of the active tenant.
   */
  rotateServiceToken: {
    parameters: {
      header?: {
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    requestBody?: {
      content: {
        /** @example {} */
        "application/json": components["schemas"]["Empty"];
      };
    };
    responses: {
      /** @description The service token with secret */
      200: {
        headers: {
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["ServiceTokenWithSecret"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrReauthenticationRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * List the endpoints of your tenant, newest first
   * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `webhook-endpoint:read`.
   */
  listWebhookEndpoints: {
    parameters: {
      query?: {
        /** @description Items of a page at most; it ends earlier once it has 1 MiB */
        limit?: number;
        /** @description `nextCursor` of the previous page */
        cursor?: string;
      };
    };
    responses: {
      /** @description A page of webhook endpoints */
      200: {
        headers: {
          /** @description Paths of the first, the next and the previous page (RFC 8288) */
          Link?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["WebhookEndpointPage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["Forbidden"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Create an endpoint for your events; its signing secret is not shown again
   * @description A tenant has at most 50 endpoints, and a URL once (409). The URL is checked now, and again before every attempt.
   *
   * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `webhook-endpoint:create`.
   */
  createWebhookEndpoint: {
    parameters: {
      header?: {
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "url": "https://app.acme.example/webhooks",
         *   "description": "Production",
         *   "eventTypes": [
         *     "order.updated"
         *   ],
         *   "signature": "spec",
         *   "rateLimit": {
         *     "perSecond": 1,
         *     "burst": 1
         *   },
         *   "payload": "full",
         *   "recoverWhenDisabled": true
         * }
         */
        "application/json": components["schemas"]["NewWebhookEndpoint"];
      };
    };
    responses: {
      /** @description The new webhook endpoint with secret */
      201: {
        headers: {
          /** @description Path of the new object */
          Location?: string;
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["WebhookEndpointWithSecret"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrCrossOrigin"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Read an endpoint of your tenant
   * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `webhook-endpoint:read`.
   */
  getWebhookEndpoint: {
    parameters: {
      header?: {
        /** @description The ETag of the object as you know it: 304 if it has not changed */
        "if-none-match"?: string;
      };
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    responses: {
      /** @description The webhook endpoint */
      200: {
        headers: {
          /** @description The version of the object, for `If-Match` and `If-None-Match` */
          ETag?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["WebhookEndpoint"];
        };
      };
      /** @description The object has not changed */
      304: {
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Delete an endpoint and its deliveries; nothing more is sent to it
   * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `webhook-endpoint:delete`.
   */
  deleteWebhookEndpoint: {
    parameters: {
      header?: {
        /** @description The ETag of the object as you read it. If it has changed since then, nothing is done: 412. */
        "if-match"?: string;
      };
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    responses: {
      /** @description The endpoint is deleted */
      204: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      412: components["responses"]["PreconditionFailed"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Change an endpoint; pending deliveries use the new URL from their next attempt
   * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `webhook-endpoint:update`.
   */
  updateWebhookEndpoint: {
    parameters: {
      header?: {
        /** @description The ETag of the object as you read it. If it has changed since then, nothing is done: 412. */
        "if-match"?: string;
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "url": "https://app.acme.example/webhooks",
         *   "description": "Production",
         *   "eventTypes": [
         *     "order.updated"
         *   ],
         *   "signature": "spec",
         *   "rateLimit": {
         *     "perSecond": 1,
         *     "burst": 1
         *   },
         *   "payload": "full",
         *   "recoverWhenDisabled": true
         * }
         */
        "application/json": components["schemas"]["WebhookEndpointChange"];
      };
    };
    responses: {
      /** @description The webhook endpoint as it is now */
      200: {
        headers: {
          /** @description The version of the object, for `If-Match` and `If-None-Match` */
          ETag?: string;
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["WebhookEndpoint"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["Conflict"];
      412: components["responses"]["PreconditionFailed"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Rotate the secret of an endpoint; the new one is not shown again
   * @description Until the overlap ends, every delivery is signed with both secrets. At most two secrets sign: another rotation during the overlap stops the oldest at once. With `overlapSeconds: 0` the previous secret stops at once.
   *
   * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `webhook-endpoint:update`.
   */
  rotateWebhookEndpointSecret: {
    parameters: {
      header?: {
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    requestBody?: {
      content: {
        /**
         * @example {
         *   "overlapSeconds": 86400
         * }
         */
        "application/json": components["schemas"]["SecretRotation"];
      };
    };
    responses: {
      /** @description The webhook endpoint with secrets */
      200: {
        headers: {
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["WebhookEndpointWithSecrets"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Enable a failing or disabled endpoint
   * @description Earlier failures no longer count. Use a replay to send the deliveries that ended in the meantime.
   *
   * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `webhook-endpoint:update`.
   */
  enableWebhookEndpoint: {
    parameters: {
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    requestBody?: {
      content: {
        /** @example {} */
        "application/json": components["schemas"]["Empty"];
      };
    };
    responses: {
      /** @description The webhook endpoint */
      200: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["WebhookEndpoint"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Send one test event to an endpoint now and return the result
   * @description An `endpoint.test`, or the `type` that you name, with example data of an object that does not exist. A worker makes one attempt before the response; if none is free within 4 seconds, this is 503 and nothing was sent. The attempt is not retried and does not change the state of the endpoint. Disabled endpoints can be tested too.
   *
   * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `webhook-endpoint:update`.
   */
  testWebhookEndpoint: {
    parameters: {
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    requestBody?: {
      content: {
        /**
         * @example {
         *   "type": "order.updated"
         * }
         */
        "application/json": components["schemas"]["EndpointTestRequest"];
      };
    };
    responses: {
      /** @description The delivery */
      200: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["Delivery"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["QuotaExceeded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * The report of the latest probe
   * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `webhook-endpoint:read`.
   */
  getWebhookEndpointProbe: {
    parameters: {
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    responses: {
      /** @description The latest probe */
      200: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["LatestProbe"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Check the receiver of an endpoint with correct and incorrect deliveries
   * @description Sends about twelve inert `endpoint.test` deliveries, grades the receiver from A to F and names a remedy for each fault. A worker sends them; if none is free within 4 seconds, this is 503 and nothing was sent. Takes up to 25 seconds; at most every 6 hours for an endpoint.
   *
   * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `webhook-endpoint:update`.
   */
  probeWebhookEndpoint: {
    parameters: {
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    requestBody?: {
      content: {
        /** @example {} */
        "application/json": components["schemas"]["Empty"];
      };
    };
    responses: {
      /** @description The probe report */
      200: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["ProbeReport"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["QuotaExceeded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * List the deliveries to an endpoint, newest first, with their attempts
   * @description With `status`, `eventType` or an `httpStatus` of 2xx only the newest 10,000 deliveries of the time range are searched.
   *
   * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `delivery:read`.
   */
  listDeliveries: {
    parameters: {
      query?: {
        /** @description Items of a page at most; it ends earlier once it has 1 MiB */
        limit?: number;
        /** @description `nextCursor` of the previous page */
        cursor?: string;
        /** @description Created at this time or later */
        from?: string;
        /** @description Created before this time */
        to?: string;
        status?: components["schemas"]["DeliveryStatus"];
        /**
         * @description `order.updated`, `post.updated`, `post.deleted`, `invoice.created`, `invoice.updated`, `subscription.activated`, `subscription.changed`, `subscription.ended`, `endpoint.test`, or a type of the app
         * @example order.updated
         */
        eventType?: string;
        /** @example msg_9f0c1d2e-3b4a-4c5d-8e6f-7a8b9c0d1e2f */
        eventId?: string;
        /**
         * @description Of the latest attempt: a status (`404`), a class (`4xx`), or `none` for no response
         * @example 4xx
         */
        httpStatus?: string;
        /** @description `-createdAt`: newest first, the default; `createdAt`: oldest first */
        sort?: "-createdAt" | "createdAt";
      };
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    responses: {
      /** @description A page of deliveries */
      200: {
        headers: {
          /** @description Paths of the first, the next and the previous page (RFC 8288) */
          Link?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["DeliveryPage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Count the deliveries to an endpoint, as before a replay of them
   * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `delivery:read`.
   */
  countDeliveries: {
    parameters: {
      query?: {
        /** @description Created at this time or later */
        from?: string;
        /** @description Created before this time */
        to?: string;
        status?: components["schemas"]["DeliveryStatus"];
        /**
         * @description `order.updated`, `post.updated`, `post.deleted`, `invoice.created`, `invoice.updated`, `subscription.activated`, `subscription.changed`, `subscription.ended`, `endpoint.test`, or a type of the app
         * @example order.updated
         */
        eventType?: string;
        /** @example msg_9f0c1d2e-3b4a-4c5d-8e6f-7a8b9c0d1e2f */
        eventId?: string;
        /**
         * @description Of the latest attempt: a status (`404`), a class (`4xx`), or `none` for no response
         * @example 4xx
         */
        httpStatus?: string;
      };
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    responses: {
      /** @description The delivery count */
      200: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["DeliveryCount"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Read a delivery with its attempts
   * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `delivery:read`.
   */
  getDelivery: {
    parameters: {
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    responses: {
      /** @description The delivery */
      200: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["Delivery"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Send a delivery again, with a new series of attempts
   * @description Sends the same event with the same id, whatever its status. A second request before the first attempt changes nothing. The endpoint is disabled. Enable it first: POST /webhook-endpoints/:id/enable (409).
   *
   * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `delivery:replay`.
   */
  replayDelivery: {
    parameters: {
      header?: {
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    requestBody?: {
      content: {
        /** @example {} */
        "application/json": components["schemas"]["Empty"];
      };
    };
    responses: {
      /** @description The delivery, which continues in the background */
      202: {
        headers: {
          /** @description Path of the new object */
          Location?: string;
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["Delivery"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["ConflictOrQuotaExceeded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Send many deliveries again: those of a time range that match, or selected ones
   * @description Deliveries created at or after `from` and before `to`, at most 90 days, that match the other filters; or those in `deliveryIds`. GET /webhook-endpoints/:id/deliveries/count says how many match. `Location` is the replay; without such deliveries it is finished at once. The endpoint is disabled. Enable it first: POST /webhook-endpoints/:id/enable (409). At most 2 replays of an endpoint and 5 of a tenant are open at once (429).
   *
   * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `delivery:replay`.
   */
  replayDeliveries: {
    parameters: {
      header?: {
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "from": "2026-11-21T09:30:00.000Z",
         *   "to": "2026-11-22T09:30:00.000Z",
         *   "status": "pending",
         *   "eventType": "order.updated",
         *   "eventId": "msg_9f0c1d2e-3b4a-4c5d-8e6f-7a8b9c0d1e2f",
         *   "httpStatus": "4xx",
         *   "deliveryIds": [
         *     "0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60"
         *   ]
         * }
         */
        "application/json": components["schemas"]["NewEndpointReplay"];
      };
    };
    responses: {
      /** @description The endpoint replay, which continues in the background */
      202: {
        headers: {
          /** @description Path of the new object */
          Location?: string;
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["EndpointReplay"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["ConflictOrQuotaExceeded"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Read the progress of a replay
   * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `delivery:read`.
   */
  getDeliveryReplay: {
    parameters: {
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        replayId: string;
      };
    };
    responses: {
      /** @description The endpoint replay */
      200: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["EndpointReplay"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["Forbidden"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Cancel a replay in progress
   * @description Deliveries that were started already are sent; the rest is not. A finished replay stays as it is.
   *
   * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `delivery:replay`.
   */
  cancelDeliveryReplay: {
    parameters: {
      header?: {
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        replayId: string;
      };
    };
    requestBody?: {
      content: {
        /** @example {} */
        "application/json": components["schemas"]["Empty"];
      };
    };
    responses: {
      /** @description The endpoint replay */
      200: {
        headers: {
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["EndpointReplay"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * List the events of your tenant in order, after a cursor
   * @description Every event as it is sent, with the same id, whether an endpoint has chosen its type or not. `nextCursor` points after the last event of the page: store it and pass it as `after`, now or later. It is null if there are no new events; your last cursor stays valid. An event appears once all transactions that began before it have ended, so that none is skipped. Events are kept for 90 days, without an endpoint for 30 days, unless the operator has set other limits.
   *
   * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `event:read`.
   */
  listEvents: {
    parameters: {
      query?: {
        /** @description Items of a page at most; it ends earlier once it has 1 MiB */
        limit?: number;
        /** @description `nextCursor` of the previous page */
        after?: string;
        /** @description Created at this time or later */
        from?: string;
        /** @description Created before this time */
        to?: string;
        /**
         * @description `order.updated`, `post.updated`, `post.deleted`, `invoice.created`, `invoice.updated`, `subscription.activated`, `subscription.changed`, `subscription.ended`, `endpoint.test`, or a type of the app
         * @example order.updated
         */
        type?: string;
      };
    };
    responses: {
      /** @description A page of events */
      200: {
        headers: {
          /** @description Paths of the first, the next and the previous page (RFC 8288) */
          Link?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["EventPage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["Forbidden"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * List the alerts about your webhook endpoints, newest first
   * @description Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `notification:read`.
   */
  listNotifications: {
    parameters: {
      query?: {
        /** @description Items of a page at most; it ends earlier once it has 1 MiB */
        limit?: number;
        /** @description `nextCursor` of the previous page */
        cursor?: string;
      };
    };
    responses: {
      /** @description A page of notifications */
      200: {
        headers: {
          /** @description Paths of the first, the next and the previous page (RFC 8288) */
          Link?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["NotificationPage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["Forbidden"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Read what your tenant stores and may store
   * @description A write that would store more than a limit is refused with 409, `quota-exceeded`, and changes nothing. Deleting resources is always possible. Events expire on their own.
   *
   * Roles admin: of the active tenant. A limited token needs `user:manage`. A service token needs `usage:read`.
   */
  getUsage: {
    responses: {
      /** @description The usage */
      200: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["Usage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["Forbidden"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * List received billing events, newest first
   * @description For operators. To find a rare `type`, set `from` and `to`.
   *
   * Operators: of no tenant; operators only.
   */
  listBillingEvents: {
    parameters: {
      query?: {
        /** @description Items of a page at most; it ends earlier once it has 1 MiB */
        limit?: number;
        /** @description `nextCursor` of the previous page */
        cursor?: string;
        status?: components["schemas"]["BillingEventStatus"];
        forwarding?: components["schemas"]["BillingEventForwardingStatus"];
        type?: string;
        /** @description Received at this time or later */
        from?: string;
        /** @description Received before this time */
        to?: string;
        /** @description `-receivedAt`: newest first, the default; `receivedAt`: oldest first */
        sort?: "-receivedAt" | "receivedAt";
      };
    };
    responses: {
      /** @description A page of billing events */
      200: {
        headers: {
          /** @description Paths of the first, the next and the previous page (RFC 8288) */
          Link?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["BillingEventPage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequired"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Read a received billing event with its raw body
   * @description For operators. `body` is null after its retention has ended.
   *
   * Operators: of no tenant; operators only.
   */
  getBillingEvent: {
    parameters: {
      path: {
        /** @example 42 */
        id: string;
      };
    };
    responses: {
      /** @description The billing event with body */
      200: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["BillingEventWithBody"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequired"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Dismiss a dead billing event
   * @description For operators. The event need not be processed: it is no longer counted as dead, and not replayed with the dead events, and not processed when its customer is linked. Replayed by its id, it is processed, or what it was before. 409 if it is neither dead nor unlinked.
   *
   * Operators: of no tenant; operators only.
   */
  dismissBillingEvent: {
    parameters: {
      path: {
        /** @example 42 */
        id: string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "reason": "text"
         * }
         */
        "application/json": components["schemas"]["BillingEventDismissal"];
      };
    };
    responses: {
      /** @description The billing event with body */
      200: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["BillingEventWithBody"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Process a received billing event again
   * @description For operators. Processes each event again, in order of arrival. Effects are keyed by the event, so none happens twice. Returns the replay; GET /billing/replays/:id returns its progress. 409 if its body has been deleted.
   *
   * Operators: of no tenant; operators only.
   */
  replayBillingEvent: {
    parameters: {
      header?: {
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
      path: {
        /** @example 42 */
        id: string;
      };
    };
    responses: {
      /** @description The billing replay, which continues in the background */
      202: {
        headers: {
          /** @description Path of the new object */
          Location?: string;
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["BillingReplay"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["Conflict"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Process many received billing events again
   * @description For operators. Processes each event again, in order of arrival. Effects are keyed by the event, so none happens twice. Returns the replay; GET /billing/replays/:id returns its progress.
   *
   * Operators: of no tenant; operators only.
   */
  replayBillingEvents: {
    parameters: {
      header?: {
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "status": "recorded",
         *   "from": "2026-11-21T09:30:00.000Z",
         *   "to": "2026-11-22T09:30:00.000Z"
         * }
         */
        "application/json": components["schemas"]["NewBillingReplay"];
      };
    };
    responses: {
      /** @description The billing replay, which continues in the background */
      202: {
        headers: {
          /** @description Path of the new object */
          Location?: string;
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["BillingReplay"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrCrossOrigin"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Read the progress of a replay
   * @description Operators: of no tenant; operators only.
   */
  getBillingReplay: {
    parameters: {
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    responses: {
      /** @description The billing replay */
      200: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["BillingReplay"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequired"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * List comparisons with the events of the provider, newest first
   * @description For operators.
   *
   * Operators: of no tenant; operators only.
   */
  listBillingReconciliations: {
    parameters: {
      query?: {
        /** @description Items of a page at most; it ends earlier once it has 1 MiB */
        limit?: number;
        /** @description `nextCursor` of the previous page */
        cursor?: string;
      };
    };
    responses: {
      /** @description A page of billing reconciliations */
      200: {
        headers: {
          /** @description Paths of the first, the next and the previous page (RFC 8288) */
          Link?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["BillingReconciliationPage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequired"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Compare the events of the provider with those received
   * @description For operators. Reads the list of the provider and records each event whose webhook never arrived, with the same effect. Needs BILLING_API_URL. Without `from` and `to` it covers the last day; never the last ten minutes, because their webhooks may still arrive. The same runs every 15 minutes by itself.
   *
   * Operators: of no tenant; operators only.
   */
  createBillingReconciliation: {
    parameters: {
      header?: {
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "from": "2026-11-21T09:30:00.000Z",
         *   "to": "2026-11-22T09:30:00.000Z",
         *   "dryRun": true
         * }
         */
        "application/json": components["schemas"]["NewBillingReconciliation"];
      };
    };
    responses: {
      /** @description The billing reconciliation, which continues in the background */
      202: {
        headers: {
          /** @description Path of the new object */
          Location?: string;
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["BillingReconciliation"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrCrossOrigin"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Read a comparison with the events of the provider
   * @description For operators.
   *
   * Operators: of no tenant; operators only.
   */
  getBillingReconciliation: {
    parameters: {
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    responses: {
      /** @description The billing reconciliation */
      200: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["BillingReconciliation"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequired"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * List the billing customers that are linked to users
   * @description For operators.
   *
   * Operators: of no tenant; operators only.
   */
  listBillingCustomers: {
    parameters: {
      query?: {
        /** @description Items of a page at most; it ends earlier once it has 1 MiB */
        limit?: number;
        /** @description `nextCursor` of the previous page */
        cursor?: string;
      };
    };
    responses: {
      /** @description A page of billing customers */
      200: {
        headers: {
          /** @description Paths of the first, the next and the previous page (RFC 8288) */
          Link?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["BillingCustomerPage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequired"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Link a billing customer to a user
   * @description For operators. From now on the customer’s charges create invoices in the user’s own tenant, and its subscription sets the user’s plan. It is taken from the user who had it; existing invoices stay. 404 if the user does not exist, 409 if the user has another customer.
   *
   * Operators: of no tenant; operators only.
   */
  linkBillingCustomer: {
    parameters: {
      path: {
        /** @example cus_42 */
        customer: string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "userId": 7
         * }
         */
        "application/json": components["schemas"]["BillingCustomerLink"];
      };
    };
    responses: {
      /** @description The linked billing customer */
      200: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["LinkedBillingCustomer"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrReauthenticationRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * The app tokens, newest first
   * @description Expired tokens are listed for another 30 days.
   *
   * Operators: of no tenant; operators only.
   */
  listAppTokens: {
    parameters: {
      query?: {
        /** @description Items of a page at most; it ends earlier once it has 1 MiB */
        limit?: number;
        /** @description `nextCursor` of the previous page */
        cursor?: string;
      };
    };
    responses: {
      /** @description A page of app tokens */
      200: {
        headers: {
          /** @description Paths of the first, the next and the previous page (RFC 8288) */
          Link?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["AppTokenPage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequired"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Create an app token; its secret is returned only here
   * @description Sent as `Authorization: Bearer gtha_…`, not together with a session cookie (400). It is for the backend behind this program. It belongs to no tenant: each request names the tenant that it is about. Its permissions say what it may do, and it has its own rate limits. Requires a sign-in or re-authentication (`/auth/login?reauthenticate=true`) within the last five minutes; otherwise 403 `/docs/errors/reauthentication-required`. 409 if there are 50 app tokens.
   *
   * Operators: of no tenant; operators only.
   */
  createAppToken: {
    parameters: {
      header?: {
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "name": "Nightly import",
         *   "permissions": [
         *     "event:publish"
         *   ],
         *   "expiresAt": "2027-05-21T09:30:00.000Z"
         * }
         */
        "application/json": components["schemas"]["NewAppToken"];
      };
    };
    responses: {
      /** @description The new app token with secret */
      201: {
        headers: {
          /** @description Path of the new object */
          Location?: string;
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["AppTokenWithSecret"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrReauthenticationRequiredOrCrossOrigin"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Read an app token
   * @description Operators: of no tenant; operators only.
   */
  getAppToken: {
    parameters: {
      header?: {
        /** @description The ETag of the object as you know it: 304 if it has not changed */
        "if-none-match"?: string;
      };
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    responses: {
      /** @description The app token */
      200: {
        headers: {
          /** @description The version of the object, for `If-Match` and `If-None-Match` */
          ETag?: string;
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["AppToken"];
        };
      };
      /** @description The object has not changed */
      304: {
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequired"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Delete an app token; its next request is refused
   * @description Operators: of no tenant; operators only.
   */
  deleteAppToken: {
    parameters: {
      header?: {
        /** @description The ETag of the object as you read it. If it has changed since then, nothing is done: 412. */
        "if-match"?: string;
      };
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    responses: {
      /** @description The token is deleted */
      204: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: never;
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      412: components["responses"]["PreconditionFailed"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Change name, permissions or expiry of an app token
   * @description Applies from its next request. Requires a sign-in or re-authentication (`/auth/login?reauthenticate=true`) within the last five minutes; otherwise 403 `/docs/errors/reauthentication-required`. `lastUsedAt` is part of the ETag, so `If-Match` may also fail because the token was used.
   *
   * Operators: of no tenant; operators only.
   */
  updateAppToken: {
    parameters: {
      header?: {
        /** @description The ETag of the object as you read it. If it has changed since then, nothing is done: 412. */
        "if-match"?: string;
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "name": "Nightly import",
         *   "permissions": [
         *     "event:publish"
         *   ],
         *   "expiresAt": "2027-05-21T09:30:00.000Z"
         * }
         */
        "application/json": components["schemas"]["AppTokenChange"];
      };
    };
    responses: {
      /** @description The app token as it is now */
      200: {
        headers: {
          /** @description The version of the object, for `If-Match` and `If-None-Match` */
          ETag?: string;
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["AppToken"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrReauthenticationRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["Conflict"];
      412: components["responses"]["PreconditionFailed"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Give an app token a new secret; it is returned only here
   * @description The previous secret ends at once. To change over without a gap, create a second token and delete the first. Requires a sign-in or re-authentication (`/auth/login?reauthenticate=true`) within the last five minutes; otherwise 403 `/docs/errors/reauthentication-required`. 409 if another request rotates it at the same time.
   *
   * Operators: of no tenant; operators only.
   */
  rotateAppToken: {
    parameters: {
      header?: {
        /** @description A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
        "idempotency-key"?: string;
      };
      path: {
        /** @example 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 */
        id: string;
      };
    };
    requestBody?: {
      content: {
        /** @example {} */
        "application/json": components["schemas"]["Empty"];
      };
    };
    responses: {
      /** @description The app token with secret */
      200: {
        headers: {
          /** @description `true` for the response of an earlier request with the same `Idempotency-Key` */
          "Idempotent-Replayed"?: "true";
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["AppTokenWithSecret"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrReauthenticationRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["IdempotencyKeyReused"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Start to pay for a plan
   * @description Creates the provider’s customer of this user, or uses the one that they have, and answers with the page where they pay. The plan changes when the provider reports the subscription. 400 for a price that is not in `BILLING_PLANS` or that the provider does not have; 404 if the installation has no checkout; 409 while a plan runs, which is changed at the portal, if the user cannot have a customer, if the provider has deleted it, and if the user has deleted their own tenant; 503 if the provider does not answer.
   *
   * Roles viewer, editor, admin: own account.
   */
  startCheckout: {
    requestBody: {
      content: {
        /**
         * @example {
         *   "price": "price_pro",
         *   "returnTo": "/app/account"
         * }
         */
        "application/json": components["schemas"]["Checkout"];
      };
    };
    responses: {
      /** @description A page of checkouts */
      200: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["CheckoutPage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["Conflict"];
      413: components["responses"]["TooLarge"];
      415: components["responses"]["UnsupportedMediaType"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Change or cancel what you pay
   * @description Answers with the provider’s own page for cards, invoices and cancelling. 404 if the installation has no checkout; 409 if the user has never paid, or if the provider has deleted their customer; 503 if the provider does not answer.
   *
   * Roles viewer, editor, admin: own account.
   */
  openBillingPortal: {
    responses: {
      /** @description A page of checkouts */
      200: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "application/json": components["schemas"]["CheckoutPage"];
        };
      };
      400: components["responses"]["Malformed"];
      401: components["responses"]["UnauthenticatedOrInvalidToken"];
      403: components["responses"]["ForbiddenOrSessionRequiredOrPersonRequiredOrCrossOrigin"];
      404: components["responses"]["NotFound"];
      409: components["responses"]["Conflict"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Back-channel logout, sent by a provider
   * @description OpenID Connect Back-Channel Logout 1.0. The form parameter `logout_token` is a JWT signed by the provider; other parameters are ignored. With `sid` the request ends the sessions signed in from that session at the provider, otherwise all sessions that the user of `sub` signed in through this provider. The response is 200 also if there is no such session, and 400 for an invalid token, for a token that was used before and if the provider's keys cannot be fetched. The reason is in the audit log.
   */
  receiveBackchannelLogout: {
    parameters: {
      path: {
        /** @example acme */
        provider: string;
      };
    };
    responses: {
      /** @description The sessions have ended */
      200: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "text/plain": "";
        };
      };
      400: components["responses"]["LogoutRefused"];
      404: components["responses"]["NotFound"];
      429: components["responses"]["TooManyRequests"];
      500: components["responses"]["Internal"];
      503: components["responses"]["Unavailable"];
    };
  };
  /**
   * Receive a signed billing event
   * @description Header `Webhook-Signature: t=UNIX_SECONDS,v1=HEX`, an HMAC-SHA256 of `t.body`, at most 300 seconds old; with another `BILLING_PROVIDER` the headers of that provider, and no others. The response is text. 200 is `recorded`, `ignored` (a kind that is not processed) or `duplicate` (also with another body; the first body stays): do not send the event again. 503 with `Retry-After`: nothing was recorded, send it again.
   */
  receiveBillingEvent: {
    responses: {
      /** @description Do not send the event again */
      200: {
        headers: {
          RateLimit: components["headers"]["RateLimit"];
          "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
        };
        content: {
          "text/plain": "recorded" | "ignored" | "duplicate";
        };
      };
      /** @description Nothing was recorded */
      400: {
        content: {
          "text/plain": "bad signature" | "timestamp outside tolerance" | "malformed event";
        };
      };
      /** @description The reason */
      413: {
        content: {
          "text/plain": string;
        };
      };
      /** @description The reason */
      415: {
        content: {
          "text/plain": string;
        };
      };
      /** @description The reason */
      429: {
        headers: {
          /** @description Seconds to wait before the next attempt */
          "Retry-After"?: number;
        };
        content: {
          "text/plain": string;
        };
      };
      500: components["responses"]["Internal"];
      /** @description The reason */
      503: {
        headers: {
          /** @description Seconds to wait before the next attempt */
          "Retry-After"?: number;
        };
        content: {
          "text/plain": string;
        };
      };
    };
  };
  /**
   * An order was changed
   * @description Sent to every webhook endpoint of the tenant that has chosen the type. Verify the signature over the raw body before you parse it.
   */
  onOrderUpdated: {
    parameters: {
      header: {
        /**
         * @description Id of the event, the same in every attempt
         * @example msg_p5jXN8AQM9LWM0D4loKWxJek
         */
        "webhook-id": string;
        /**
         * @description Unix time of this attempt in seconds
         * @example 1614265330
         */
        "webhook-timestamp": number;
        /**
         * @description `v1,<base64>`, several separated by a space
         * @example v1,LjffXUoCjFGn8xM9ZK4eMA0sLJAPGx1J1Daa0lMPiWQ=
         */
        "webhook-signature": string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
         *   "type": "order.updated",
         *   "createdAt": "2026-11-21T09:30:00.000Z",
         *   "data": {
         *     "id": 42,
         *     "userId": 7,
         *     "currency": "eur",
         *     "lineItems": [
         *       {
         *         "sku": "GATE-OAK-200",
         *         "quantity": 1,
         *         "unitPrice": 45900
         *       }
         *     ],
         *     "shippingAddress": {
         *       "name": "Ada Okafor",
         *       "line1": "1 Harbour Street",
         *       "line2": "Second floor",
         *       "city": "Lisbon",
         *       "postalCode": "1100-012",
         *       "country": "PT"
         *     },
         *     "cardLast4": "4242",
         *     "createdAt": "2026-11-21T09:30:00.000Z",
         *     "updatedAt": "2026-11-21T09:30:00.000Z"
         *   }
         * }
         */
        "application/json": components["schemas"]["OrderUpdatedEvent"];
      };
    };
    responses: {
      /** @description Delivered */
      "2XX": {
        content: never;
      };
      /** @description Not delivered: the next attempt follows the schedule */
      "4XX": {
        content: never;
      };
      /** @description Not delivered: the next attempt follows the schedule */
      "5XX": {
        content: never;
      };
    };
  };
  /**
   * A post was changed
   * @description Sent to every webhook endpoint of the tenant that has chosen the type. Verify the signature over the raw body before you parse it.
   */
  onPostUpdated: {
    parameters: {
      header: {
        /**
         * @description Id of the event, the same in every attempt
         * @example msg_p5jXN8AQM9LWM0D4loKWxJek
         */
        "webhook-id": string;
        /**
         * @description Unix time of this attempt in seconds
         * @example 1614265330
         */
        "webhook-timestamp": number;
        /**
         * @description `v1,<base64>`, several separated by a space
         * @example v1,LjffXUoCjFGn8xM9ZK4eMA0sLJAPGx1J1Daa0lMPiWQ=
         */
        "webhook-signature": string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
         *   "type": "post.updated",
         *   "createdAt": "2026-11-21T09:30:00.000Z",
         *   "data": {
         *     "id": 42,
         *     "tenantId": "0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60",
         *     "authorId": 1,
         *     "authorServiceId": "0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60",
         *     "department": "engineering",
         *     "title": "Opening hours",
         *     "body": "The gate opens at nine.",
         *     "createdAt": "2026-11-21T09:30:00.000Z",
         *     "updatedAt": "2026-11-21T09:30:00.000Z"
         *   }
         * }
         */
        "application/json": components["schemas"]["PostUpdatedEvent"];
      };
    };
    responses: {
      /** @description Delivered */
      "2XX": {
        content: never;
      };
      /** @description Not delivered: the next attempt follows the schedule */
      "4XX": {
        content: never;
      };
      /** @description Not delivered: the next attempt follows the schedule */
      "5XX": {
        content: never;
      };
    };
  };
  /**
   * A post was deleted; `data` is its last state
   * @description Sent to every webhook endpoint of the tenant that has chosen the type. Verify the signature over the raw body before you parse it.
   */
  onPostDeleted: {
    parameters: {
      header: {
        /**
         * @description Id of the event, the same in every attempt
         * @example msg_p5jXN8AQM9LWM0D4loKWxJek
         */
        "webhook-id": string;
        /**
         * @description Unix time of this attempt in seconds
         * @example 1614265330
         */
        "webhook-timestamp": number;
        /**
         * @description `v1,<base64>`, several separated by a space
         * @example v1,LjffXUoCjFGn8xM9ZK4eMA0sLJAPGx1J1Daa0lMPiWQ=
         */
        "webhook-signature": string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
         *   "type": "post.deleted",
         *   "createdAt": "2026-11-21T09:30:00.000Z",
         *   "data": {
         *     "id": 42,
         *     "tenantId": "0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60",
         *     "authorId": 1,
         *     "authorServiceId": "0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60",
         *     "department": "engineering",
         *     "title": "Opening hours",
         *     "body": "The gate opens at nine.",
         *     "createdAt": "2026-11-21T09:30:00.000Z",
         *     "updatedAt": "2026-11-21T09:30:00.000Z"
         *   }
         * }
         */
        "application/json": components["schemas"]["PostDeletedEvent"];
      };
    };
    responses: {
      /** @description Delivered */
      "2XX": {
        content: never;
      };
      /** @description Not delivered: the next attempt follows the schedule */
      "4XX": {
        content: never;
      };
      /** @description Not delivered: the next attempt follows the schedule */
      "5XX": {
        content: never;
      };
    };
  };
  /**
   * A charge was paid, and its invoice created
   * @description Sent to every webhook endpoint of the tenant that has chosen the type. Verify the signature over the raw body before you parse it.
   */
  onInvoiceCreated: {
    parameters: {
      header: {
        /**
         * @description Id of the event, the same in every attempt
         * @example msg_p5jXN8AQM9LWM0D4loKWxJek
         */
        "webhook-id": string;
        /**
         * @description Unix time of this attempt in seconds
         * @example 1614265330
         */
        "webhook-timestamp": number;
        /**
         * @description `v1,<base64>`, several separated by a space
         * @example v1,LjffXUoCjFGn8xM9ZK4eMA0sLJAPGx1J1Daa0lMPiWQ=
         */
        "webhook-signature": string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
         *   "type": "invoice.created",
         *   "createdAt": "2026-11-21T09:30:00.000Z",
         *   "data": {
         *     "id": 42,
         *     "tenantId": "0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60",
         *     "amount": 4900,
         *     "currency": "eur",
         *     "status": "paid",
         *     "amountRefunded": 0,
         *     "createdAt": "2026-11-21T09:30:00.000Z"
         *   }
         * }
         */
        "application/json": components["schemas"]["InvoiceCreatedEvent"];
      };
    };
    responses: {
      /** @description Delivered */
      "2XX": {
        content: never;
      };
      /** @description Not delivered: the next attempt follows the schedule */
      "4XX": {
        content: never;
      };
      /** @description Not delivered: the next attempt follows the schedule */
      "5XX": {
        content: never;
      };
    };
  };
  /**
   * A payment was refunded or disputed, or its dispute was won
   * @description Sent to every webhook endpoint of the tenant that has chosen the type. Verify the signature over the raw body before you parse it.
   */
  onInvoiceUpdated: {
    parameters: {
      header: {
        /**
         * @description Id of the event, the same in every attempt
         * @example msg_p5jXN8AQM9LWM0D4loKWxJek
         */
        "webhook-id": string;
        /**
         * @description Unix time of this attempt in seconds
         * @example 1614265330
         */
        "webhook-timestamp": number;
        /**
         * @description `v1,<base64>`, several separated by a space
         * @example v1,LjffXUoCjFGn8xM9ZK4eMA0sLJAPGx1J1Daa0lMPiWQ=
         */
        "webhook-signature": string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
         *   "type": "invoice.updated",
         *   "createdAt": "2026-11-21T09:30:00.000Z",
         *   "data": {
         *     "id": 42,
         *     "tenantId": "0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60",
         *     "amount": 4900,
         *     "currency": "eur",
         *     "status": "paid",
         *     "amountRefunded": 0,
         *     "createdAt": "2026-11-21T09:30:00.000Z"
         *   }
         * }
         */
        "application/json": components["schemas"]["InvoiceUpdatedEvent"];
      };
    };
    responses: {
      /** @description Delivered */
      "2XX": {
        content: never;
      };
      /** @description Not delivered: the next attempt follows the schedule */
      "4XX": {
        content: never;
      };
      /** @description Not delivered: the next attempt follows the schedule */
      "5XX": {
        content: never;
      };
    };
  };
  /**
   * A user’s subscription gave them a plan that they did not have; sent to their own tenant
   * @description Sent to every webhook endpoint of the tenant that has chosen the type. Verify the signature over the raw body before you parse it.
   */
  onSubscriptionActivated: {
    parameters: {
      header: {
        /**
         * @description Id of the event, the same in every attempt
         * @example msg_p5jXN8AQM9LWM0D4loKWxJek
         */
        "webhook-id": string;
        /**
         * @description Unix time of this attempt in seconds
         * @example 1614265330
         */
        "webhook-timestamp": number;
        /**
         * @description `v1,<base64>`, several separated by a space
         * @example v1,LjffXUoCjFGn8xM9ZK4eMA0sLJAPGx1J1Daa0lMPiWQ=
         */
        "webhook-signature": string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
         *   "type": "subscription.activated",
         *   "createdAt": "2026-11-21T09:30:00.000Z",
         *   "data": {
         *     "userId": 7,
         *     "plan": "pro"
         *   }
         * }
         */
        "application/json": components["schemas"]["SubscriptionActivatedEvent"];
      };
    };
    responses: {
      /** @description Delivered */
      "2XX": {
        content: never;
      };
      /** @description Not delivered: the next attempt follows the schedule */
      "4XX": {
        content: never;
      };
      /** @description Not delivered: the next attempt follows the schedule */
      "5XX": {
        content: never;
      };
    };
  };
  /**
   * A user’s subscription has another plan, status, period or end; sent to their own tenant
   * @description Sent to every webhook endpoint of the tenant that has chosen the type. Verify the signature over the raw body before you parse it.
   */
  onSubscriptionChanged: {
    parameters: {
      header: {
        /**
         * @description Id of the event, the same in every attempt
         * @example msg_p5jXN8AQM9LWM0D4loKWxJek
         */
        "webhook-id": string;
        /**
         * @description Unix time of this attempt in seconds
         * @example 1614265330
         */
        "webhook-timestamp": number;
        /**
         * @description `v1,<base64>`, several separated by a space
         * @example v1,LjffXUoCjFGn8xM9ZK4eMA0sLJAPGx1J1Daa0lMPiWQ=
         */
        "webhook-signature": string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
         *   "type": "subscription.changed",
         *   "createdAt": "2026-11-21T09:30:00.000Z",
         *   "data": {
         *     "userId": 7,
         *     "plan": "pro",
         *     "status": "text",
         *     "currentPeriodEnd": "2026-11-21T09:30:00.000Z",
         *     "cancelsAt": null
         *   }
         * }
         */
        "application/json": components["schemas"]["SubscriptionChangedEvent"];
      };
    };
    responses: {
      /** @description Delivered */
      "2XX": {
        content: never;
      };
      /** @description Not delivered: the next attempt follows the schedule */
      "4XX": {
        content: never;
      };
      /** @description Not delivered: the next attempt follows the schedule */
      "5XX": {
        content: never;
      };
    };
  };
  /**
   * A user’s subscription ended and with it their plan; sent to their own tenant
   * @description Sent to every webhook endpoint of the tenant that has chosen the type. Verify the signature over the raw body before you parse it.
   */
  onSubscriptionEnded: {
    parameters: {
      header: {
        /**
         * @description Id of the event, the same in every attempt
         * @example msg_p5jXN8AQM9LWM0D4loKWxJek
         */
        "webhook-id": string;
        /**
         * @description Unix time of this attempt in seconds
         * @example 1614265330
         */
        "webhook-timestamp": number;
        /**
         * @description `v1,<base64>`, several separated by a space
         * @example v1,LjffXUoCjFGn8xM9ZK4eMA0sLJAPGx1J1Daa0lMPiWQ=
         */
        "webhook-signature": string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
         *   "type": "subscription.ended",
         *   "createdAt": "2026-11-21T09:30:00.000Z",
         *   "data": {
         *     "userId": 7,
         *     "plan": "pro",
         *     "status": "text",
         *     "currentPeriodEnd": "2026-11-21T09:30:00.000Z",
         *     "cancelsAt": null
         *   }
         * }
         */
        "application/json": components["schemas"]["SubscriptionEndedEvent"];
      };
    };
    responses: {
      /** @description Delivered */
      "2XX": {
        content: never;
      };
      /** @description Not delivered: the next attempt follows the schedule */
      "4XX": {
        content: never;
      };
      /** @description Not delivered: the next attempt follows the schedule */
      "5XX": {
        content: never;
      };
    };
  };
  /**
   * A test of the endpoint; nothing has happened
   * @description Sent to every webhook endpoint of the tenant that has chosen the type. Verify the signature over the raw body before you parse it.
   */
  onEndpointTest: {
    parameters: {
      header: {
        /**
         * @description Id of the event, the same in every attempt
         * @example msg_p5jXN8AQM9LWM0D4loKWxJek
         */
        "webhook-id": string;
        /**
         * @description Unix time of this attempt in seconds
         * @example 1614265330
         */
        "webhook-timestamp": number;
        /**
         * @description `v1,<base64>`, several separated by a space
         * @example v1,LjffXUoCjFGn8xM9ZK4eMA0sLJAPGx1J1Daa0lMPiWQ=
         */
        "webhook-signature": string;
      };
    };
    requestBody: {
      content: {
        /**
         * @example {
         *   "id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
         *   "type": "endpoint.test",
         *   "createdAt": "2026-11-21T09:30:00.000Z",
         *   "data": {
         *     "endpointId": "0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60",
         *     "probe": "correct"
         *   }
         * }
         */
        "application/json": components["schemas"]["EndpointTestEvent"];
      };
    };
    responses: {
      /** @description Delivered */
      "2XX": {
        content: never;
      };
      /** @description Not delivered: the next attempt follows the schedule */
      "4XX": {
        content: never;
      };
      /** @description Not delivered: the next attempt follows the schedule */
      "5XX": {
        content: never;
      };
    };
  };
}
