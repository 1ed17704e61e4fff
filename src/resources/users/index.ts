import { inPortions } from '../../jobs/housekeeping.ts'
import { resource } from '../resource.ts'
import { accountRoutes } from './account-routes.ts'
import { routes } from './routes.ts'
import { addedUpAtOnce, addUpDirectoryCounts } from './lists/shown.ts'

export const users = resource({
  routes: [...routes, ...accountRoutes],
  chores: ({ sql }) => [
    {
      name: 'add up who is in directories',
      periodMs: 10_000,
      run: async signal => {
        await inPortions(addedUpAtOnce, signal, () => addUpDirectoryCounts(sql))
      },
    },
  ],
})
