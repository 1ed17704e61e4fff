import { HostTokens, type HostTokenSettings } from '../../auth/host-tokens/host-tokens.ts'
import { publicKey, sharedSecret, type HostKeys } from '../../auth/host-tokens/keys.ts'
import { RemoteKeys } from '../../auth/host-tokens/remote-keys.ts'
import { server } from '../../auth/principal.ts'
import { Egress } from '../../egress/egress.ts'
import { ipCheck } from '../../egress/ip-policy.ts'
import type { Job } from '../../jobs/jobs.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Secret } from '../../lib/secret.ts'
import type { SharedLog } from '../../log/shared-log.ts'
import type { Served } from '../route.ts'
import { HostAccounts, type AccountSettings, type AccountParts } from './accounts.ts'
import { keepHostKeys } from './commands.ts'
import { endHostKeysTurn, findHostKeys, takeHostKeysTurn } from './store.ts'

interface KeySet {
  url: string
  /** How long one answer counts, for all nodes. */
  periodSeconds: number
}

export interface HostSettings extends HostTokenSettings, AccountSettings {
  keys: KeySet | { secret: Secret } | { pem: string }
}

interface Parts extends AccountParts, Served<'loginThrottle'> {
  sharedLog: SharedLog
  clock: Clock
  log: Log
}

/** How often it is looked for another key set, at least: by the setting, the host is asked more rarely. */
const longestLookMs = 5_000

/** What verifies tokens of the host, and the job that keeps its keys up to date; null where none are accepted. */
export async function openHostTokens(
  settings: HostSettings | null,
  parts: Parts,
): Promise<{ hostTokens: HostTokens | null; keyJobs: Job[] }> {
  if (settings === null) return { hostTokens: null, keyJobs: [] }
  const accounts = new HostAccounts(settings, parts)
  const open = (keys: HostKeys) =>
    new HostTokens({ ...parts, keys, settings, findAccount: (claims, issuedAt) => accounts.find(claims, issuedAt) })
  const { keys } = settings
  if ('secret' in keys) return { hostTokens: open(sharedSecret(keys.secret.reveal())), keyJobs: [] }
  if ('pem' in keys) return { hostTokens: open(await publicKey(keys.pem)), keyJobs: [] }
  const remote = openRemoteKeys(keys, parts)
  const periodMs = Math.min(keys.periodSeconds * 1000, longestLookMs)
  const keyJobs = [{ name: 'look for keys of the host', periodMs, run: () => remote.refresh() }]
  return { hostTokens: open(remote), keyJobs }
}

/** The operator names the host, which may be in the same network: private addresses may be reached, as for webhooks. */
function openRemoteKeys({ url, periodSeconds }: KeySet, parts: Parts): RemoteKeys {
  const { sql, globalCommands } = parts
  return new RemoteKeys({
    ...parts,
    url,
    egress: new Egress({ isAllowed: ipCheck({ allowsPrivate: true }) }),
    store: {
      read: () => findHostKeys(sql, url),
      takeTurn: () => takeHostKeysTurn(sql, url, periodSeconds),
      giveUp: () => endHostKeysTurn(sql, url),
      keep: keys => globalCommands.run(keepHostKeys, server, { url, keys }),
    },
  })
}
