import { resource } from '../resource.ts'
import { approvalRoutes } from './approvals/routes.ts'
import { childRoutes } from './children/routes.ts'
import { functionKind } from './functions/kind.ts'
import { knowledgeRoutes } from './knowledge/routes.ts'
import { routes } from './routes.ts'
import { runEvents } from './runs/events.ts'
import { runRoutes } from './runs/routes.ts'
import { serverRoutes } from './servers/routes.ts'
import { testRoutes } from './test-chat/routes.ts'

export const agents = resource({
  routes: [
    ...routes,
    ...childRoutes(functionKind),
    ...serverRoutes,
    ...runRoutes,
    ...approvalRoutes,
    ...knowledgeRoutes,
    ...testRoutes,
  ],
  events: runEvents,
})
