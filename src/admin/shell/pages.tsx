import type { FunctionComponent } from 'preact'
import { texts } from '../texts.ts'
import { AgentView } from '../views/agents/agent.tsx'
import { AgentsView } from '../views/agents/agents.tsx'
import { ApprovalsView } from '../views/agents/approvals.tsx'
import { RunView } from '../views/agents/run.tsx'
import { RunsView } from '../views/agents/runs.tsx'
import { UsageView } from '../views/agents/usage.tsx'
import { AppView } from '../views/apps/app.tsx'
import { AppsView } from '../views/apps/apps.tsx'
import { AuditView } from '../views/audit/audit.tsx'
import { DirectoriesView } from '../views/directories/directories.tsx'
import { DirectoryView } from '../views/directories/directory.tsx'
import { ClientsView } from '../views/clients.tsx'
import { JobsView } from '../views/jobs.tsx'
import { KeysView } from '../views/keys/keys.tsx'
import { SignInsView } from '../views/keys/sign-ins.tsx'
import { MetricsView } from '../views/metrics.tsx'
import { OverviewView } from '../views/overview/overview.tsx'
import { RealtimeView } from '../views/realtime/realtime.tsx'
import { SettingsView } from '../views/settings.tsx'
import { StorageView } from '../views/storage.tsx'
import { UserView } from '../views/users/user.tsx'
import { UsersView } from '../views/users/users.tsx'
import { DeliveriesView } from '../views/webhooks/deliveries.tsx'
import { DeliveryView } from '../views/webhooks/delivery.tsx'
import { WebhookView } from '../views/webhooks/webhook.tsx'
import { WebhooksView } from '../views/webhooks/webhooks.tsx'
import { matchPath } from '../place.tsx'

/** What an address says beyond its view. */
interface ViewParams {
  id?: string
  part?: string
  /** Of a delivery. */
  webhook?: string
}

interface PageEntry {
  path: string
  title: string
  View: FunctionComponent<ViewParams>
}

/** The table of contents: an address, and what is shown there. Of two that fit, the first counts. */
const pages: PageEntry[] = [
  { path: '/', title: texts.overview.title, View: OverviewView },
  { path: '/keys', title: texts.keys.title, View: KeysView },
  { path: '/keys/sign-ins', title: texts.signIns.title, View: SignInsView },
  { path: '/users', title: texts.users.title, View: UsersView },
  { path: '/users/:id', title: texts.users.one, View: UserView },
  { path: '/directories', title: texts.directories.title, View: DirectoriesView },
  { path: '/directories/:id', title: texts.directories.one, View: DirectoryView },
  { path: '/clients', title: texts.clients.title, View: ClientsView },
  { path: '/apps', title: texts.apps.title, View: AppsView },
  { path: '/apps/:id', title: texts.apps.one, View: AppView },
  { path: '/apps/:id/:part', title: texts.apps.one, View: AppView },
  { path: '/agents', title: texts.agents.title, View: AgentsView },
  { path: '/agents/runs', title: texts.runs.title, View: RunsView },
  { path: '/agents/runs/:id', title: texts.runs.one, View: RunView },
  { path: '/agents/approvals', title: texts.approvals.title, View: ApprovalsView },
  { path: '/agents/usage', title: texts.usage.title, View: UsageView },
  { path: '/agents/:id', title: texts.agents.one, View: AgentView },
  { path: '/agents/:id/:part', title: texts.agents.one, View: AgentView },
  { path: '/webhooks', title: texts.webhooks.title, View: WebhooksView },
  { path: '/webhooks/:id', title: texts.webhooks.one, View: WebhookView },
  { path: '/deliveries', title: texts.deliveries.title, View: DeliveriesView },
  { path: '/deliveries/:webhook/:id', title: texts.deliveries.one, View: DeliveryView },
  { path: '/storage', title: texts.storage.title, View: StorageView },
  { path: '/realtime', title: texts.realtime.title, View: RealtimeView },
  { path: '/metrics', title: texts.metrics.title, View: MetricsView },
  { path: '/audit', title: texts.audit.title, View: AuditView },
  { path: '/settings', title: texts.settings.title, View: SettingsView },
  { path: '/jobs', title: texts.jobs.title, View: JobsView },
]

interface FoundPage extends PageEntry {
  params: ViewParams
}

/** What is at an address; null for nothing. */
export function findPage(path: string): FoundPage | null {
  for (const page of pages) {
    const params = matchPath(page.path, path)
    if (params !== null) return { ...page, params }
  }
  return null
}
