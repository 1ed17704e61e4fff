import { inPortions } from '../../jobs/portions.ts'
import { resource } from '../resource.ts'
import { routes, type LeaveApps } from './routes.ts'
import { addedUpAtOnce, addUpDirectoryCounts } from './lists/shown.ts'

export const users = (leaveApps: LeaveApps) =>
  resource({
    routes: routes(leaveApps),
    jobs: ({ sql }) => [
      {
        name: 'add up who is in directories',
        periodMs: 10_000,
        run: async signal => {
          await inPortions(addedUpAtOnce, signal, () => addUpDirectoryCounts(sql))
        },
      },
    ],
  })
