import { resource } from '../resource.ts'
import { events } from './events.ts'
import { ownRoutes } from './own/routes.ts'
import { jobs, type RemoveContent } from './purge/jobs.ts'
import { routes } from './routes.ts'
import type { AppMessages } from './show.ts'

interface Later {
  messages: AppMessages
  removeContent: RemoveContent
}

/** `messages` and `removeContent` are given by the resources of content, which come later in the order. */
export const apps = ({ messages, removeContent }: Later) =>
  resource({
    routes: [...routes(messages), ...ownRoutes(messages)],
    events,
    jobs: parts => jobs(removeContent, parts),
  })
