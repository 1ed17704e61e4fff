/** What WWW-Authenticate asks for (RFC 6750, section 3). */
export const challenge = 'Bearer realm="api"'

/** What it asks for where the token of the request is not valid. */
export const invalidToken = `${challenge}, error="invalid_token"`
