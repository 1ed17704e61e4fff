import { sayBytes } from '../../parts/amount.ts'
import { Card } from '../../parts/card.tsx'
import { Icon } from '../../parts/icon.tsx'
import { maskUrl } from '../../parts/url.ts'
import type { Job, Key, Node, Setting, Webhook } from '../../server/shapes.ts'
import { useResource } from '../../server/use-resource.ts'
import type { Paged } from '../../server/wire.ts'
import { Link } from '../../place.tsx'
import { texts } from '../../texts.ts'

interface Warning {
  text: string
  to: string
  link: string
}

/** What a careful owner would change, as far as the server tells. Nothing where all is well. */
export function Warnings() {
  const settings = useResource<Setting[]>('/admin/settings').data
  const keys = useResource<Paged<Key>>('/keys', { query: { revoked: false, take: 100 } }).data?.data
  const webhooks = useResource<Paged<Webhook>>('/webhooks', { query: { take: 100 } }).data?.data
  const jobs = useResource<Job[]>('/admin/jobs').data
  const nodes = useResource<Node[]>('/admin/nodes').data
  const warnings = [
    ...ofSettings(settings),
    ...ofKeys(keys),
    ...ofWebhooks(webhooks),
    ...ofJobs(jobs),
    ...ofDisks(nodes),
  ]
  if (warnings.length === 0) return null
  return (
    <Card title={texts.warnings.title}>
      <ul class="warnings">
        {warnings.map(({ text, to, link }) => (
          <li key={text}>
            <Icon name="warning" />
            <span>
              {text} <Link to={to}>{link}</Link>
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}

const { warnings, settings: ofSettingsTexts } = texts

function ofSettings(settings: Setting[] | undefined): Warning[] {
  if (settings === undefined) return []
  const lacks = (name: string) => settings.some(setting => setting.name === name && !setting.value)
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname)
  const found = [
    location.protocol === 'http:' && !isLocal && { text: warnings.noTls, q: 'TLS' },
    lacks('METRICS_TOKEN') && { text: warnings.openMetrics, q: 'METRICS_TOKEN' },
    ...settings.map(({ name, warning }) => warning !== undefined && { text: warning, q: name }),
  ]
  return found
    .filter(warning => warning !== false)
    .map(({ text, q }) => ({ text, to: `/settings?q=${q}`, link: ofSettingsTexts.title }))
}

/** The key that was printed at the first start, and one of the configuration, are seen by more eyes than others. */
function ofKeys(keys: Key[] = []): Warning[] {
  const first = keys.find(
    ({ name, last_used_at }) => ['First key', 'API_KEY'].includes(name) && last_used_at !== undefined,
  )
  return first === undefined ? [] : [{ text: warnings.firstKey(first.name), to: '/keys', link: texts.keys.title }]
}

/** Databases and file systems get slow, or stop, when so little is left. */
const fullShare = 0.1

function ofDisks(nodes: Node[] = []): Warning[] {
  return nodes
    .filter(({ disk }) => disk !== undefined && Number(disk.free) < Number(disk.size) * fullShare)
    .map(({ host, disk }) => ({
      text: warnings.diskFull(host, sayBytes(Number(disk!.free))),
      to: '/storage',
      link: texts.storage.title,
    }))
}

function ofWebhooks(webhooks: Webhook[] = []): Warning[] {
  return webhooks
    .filter(({ disabled_reason, failing_since }) => disabled_reason !== undefined || failing_since !== undefined)
    .map(({ id, payload_url, disabled_reason }) => ({
      text:
        disabled_reason === undefined
          ? warnings.failing(maskUrl(payload_url))
          : warnings.disabled(maskUrl(payload_url)),
      to: `/webhooks/${id}`,
      link: texts.webhooks.one,
    }))
}

function ofJobs(jobs: Job[] = []): Warning[] {
  return jobs
    .filter(({ error }) => error !== undefined)
    .map(({ name }) => ({ text: warnings.job(name), to: '/jobs', link: texts.jobs.title }))
}
