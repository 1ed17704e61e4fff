import { integer, publicKey, secret, setting, text, url, yesOrNo } from '../setting.ts'

/** Tokens of the host, the system that users are signed in to, see docs/authentication.md. */
export const signInSettings = {
  authJwksUrl: setting(
    'AUTH_JWKS_URL',
    null,
    url(/^https?$/, 'must be an http or https URL'),
    'Key set (JWKS) of the host, whose tokens (JWT) are accepted then',
  ),
  authSecret: setting(
    'AUTH_SECRET',
    null,
    secret(
      text
        .min(32, 'must have at least 32 characters')
        .refine(
          value => !value.includes('-----BEGIN'),
          'must be a shared secret; a public key belongs in AUTH_PUBLIC_KEY',
        ),
    ),
    'Instead: the secret that the host signs its tokens with (HS256, HS384, HS512)',
  ),
  authPublicKey: setting(
    'AUTH_PUBLIC_KEY',
    null,
    publicKey,
    'Instead: the public key of the host, in PEM, or the base64 within that',
  ),
  authIssuer: setting('AUTH_ISSUER', null, text, 'What iss of its tokens must be; needed with AUTH_JWKS_URL'),
  authAudience: setting(
    'AUTH_AUDIENCE',
    null,
    text,
    'What aud of its tokens must be, or contain; needed with AUTH_JWKS_URL',
  ),
  authJwksSeconds: setting(
    'AUTH_JWKS_SECONDS',
    '60',
    integer(1, 3600),
    'Time after which the key set is fetched again, and may be for a key that it does not have',
  ),
  authMaxHours: setting('AUTH_MAX_HOURS', '24', integer(1, 8760), 'The longest lifetime of a token of the host'),
  authCreate: setting(
    'AUTH_CREATE',
    'false',
    yesOrNo,
    'Whether users and directories that a token names, and that there are not, are made',
  ),
  authUidClaim: setting('AUTH_UID_CLAIM', 'sub', text, 'The claim that is the uid of the user'),
  authNameClaim: setting('AUTH_NAME_CLAIM', 'name', text, 'The claim that keeps the name up to date'),
  authEmailClaim: setting('AUTH_EMAIL_CLAIM', 'email', text, 'The claim that keeps the e-mail address up to date'),
  authPictureClaim: setting('AUTH_PICTURE_CLAIM', 'picture', text, 'The claim with the URL of the picture'),
  authDirectoriesClaim: setting(
    'AUTH_DIRECTORIES_CLAIM',
    null,
    text,
    'The claim with the names of all directories of the user; without it, tokens say nothing of them',
  ),
} as const
