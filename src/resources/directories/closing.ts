import type { Served } from '../route.ts'
import type { Command } from '../../engine/command.ts'
import { ignoreNotFound, overloaded } from '../../lib/errors.ts'
import { deleteDirectory } from './commands.ts'

/** The most rounds of a deletion, each of 200 apps; more are needed only while apps are being made. */
const mostRounds = 500

/** Takes the reference to a directory from an app. Apps come later in the order of resources. */
export type ClearDirectory = Command<number, void>

type Request = Served<'apps' | 'globalCommands' | 'by'>

/**
 * Deletes a directory after removing it from the apps that refer to it, each through its actor. No app becomes more
 * open: the directory is deleted in a transaction that sees no reference, and blocks new ones.
 */
export async function closeDirectory(
  directory: string,
  clearDirectory: ClearDirectory,
  { apps, globalCommands, by }: Request,
): Promise<void> {
  let { id, apps: dependents } = await globalCommands.run(deleteDirectory, by, directory)
  for (let round = 0; dependents.length > 0; round++) {
    if (round === mostRounds) throw overloaded()
    // An app that was deleted meanwhile refers to nothing any more.
    await Promise.all(dependents.map(app => apps.run(clearDirectory, app, by, id).catch(ignoreNotFound)))
    dependents = (await globalCommands.run(deleteDirectory, by, String(id))).apps
  }
}
