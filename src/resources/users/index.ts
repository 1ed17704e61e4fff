import { resource } from '../resource.ts'
import { routes, type LeaveApps } from './routes.ts'

export const users = (leaveApps: LeaveApps) => resource({ routes: routes(leaveApps) })
