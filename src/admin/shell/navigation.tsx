import { Icon, type IconName } from '../parts/icon.tsx'
import type { Setting } from '../server/shapes.ts'
import { useResource } from '../server/use-resource.ts'
import { Link } from '../place.tsx'
import { texts } from '../texts.ts'

interface Entry {
  to: string
  title: string
  icon: IconName
}

const { navigation } = texts

const groups: { title: string; entries: Entry[] }[] = [
  { title: '', entries: [{ to: '/', title: texts.overview.title, icon: 'overview' }] },
  {
    title: navigation.people,
    entries: [
      { to: '/users', title: texts.users.title, icon: 'users' },
      { to: '/directories', title: texts.directories.title, icon: 'directory' },
      { to: '/clients', title: texts.clients.title, icon: 'client' },
    ],
  },
  {
    title: navigation.content,
    entries: [
      { to: '/apps', title: texts.apps.title, icon: 'apps' },
      { to: '/storage', title: texts.storage.title, icon: 'storage' },
    ],
  },
  {
    title: navigation.integration,
    entries: [
      { to: '/keys', title: texts.keys.title, icon: 'key' },
      { to: '/agents', title: texts.agents.title, icon: 'agent' },
      { to: '/webhooks', title: texts.webhooks.title, icon: 'webhook' },
      { to: '/deliveries', title: texts.deliveries.title, icon: 'delivery' },
    ],
  },
  {
    title: navigation.operation,
    entries: [
      { to: '/realtime', title: texts.realtime.title, icon: 'realtime' },
      { to: '/metrics', title: texts.metrics.title, icon: 'metrics' },
      { to: '/audit', title: texts.audit.title, icon: 'audit' },
      { to: '/jobs', title: texts.jobs.title, icon: 'jobs' },
      { to: '/settings', title: texts.settings.title, icon: 'settings' },
    ],
  },
]

/** The way to all pages. */
export function Navigation({ path }: { path: string }) {
  const isWithin = (to: string) => path === to || (to !== '/' && path.startsWith(`${to}/`))
  return (
    <nav class="navigation" aria-label={navigation.label}>
      {groups.map(({ title, entries }) => (
        <div class="navigation-group" key={title}>
          {title !== '' && <h2>{title}</h2>}
          <ul>
            {entries.map(({ to, title, icon }) => (
              <li key={to}>
                <Link to={to} isCurrent={isWithin(to)}>
                  <Icon name={icon} />
                  {title}
                </Link>
              </li>
            ))}
            {title === navigation.operation && (
              <li>
                <ReferenceLink />
              </li>
            )}
          </ul>
        </div>
      ))}
    </nav>
  )
}

/** Leads to the description of the API, which is on another port where administration has one of its own. */
function ReferenceLink() {
  const { data = [] } = useResource<Setting[]>('/admin/settings')
  const valueOf = (name: string) => data.find(setting => setting.name === name)?.value
  const isApart = valueOf('ADMIN_PORT') !== undefined
  const shared = `${location.protocol}//${location.hostname}:${valueOf('PORT')}`
  const origin = isApart ? (valueOf('PUBLIC_URL') ?? shared) : ''
  return (
    <a href={`${origin}/api/docs`} target="_blank" rel="noreferrer">
      <Icon name="reference" />
      {texts.reference}
    </a>
  )
}
