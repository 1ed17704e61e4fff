import { parseArgs, type ParseArgsConfig } from 'node:util'
import { StartFault } from '../errors.ts'
import { suggestion } from '../text/resemblance.ts'

/** The arguments of a command, as `parseArgs` of Node.js reads them. StartFault that names an unknown one, with the usage. */
export function readArguments<const Config extends ParseArgsConfig>(
  config: Config,
  usage: string,
): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const option = /'--?([^' =]+)/.exec(message)?.[1] ?? ''
    const isUnknown = code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION'
    const sentence = isUnknown
      ? `There is no option --${option}.${suggestion(
          option,
          Object.keys(config.options ?? {}).map(name => `--${name}`),
        )}`
      : message
    throw new StartFault(`${sentence}\n\n${usage}`)
  }
}

/** StartFault where a program that takes no arguments was given some. `example`: how it is told what is to be otherwise. */
export function requireNoArguments(args: readonly string[], example: string): void {
  if (args.length > 0) throw new StartFault(`${args[0]} means nothing here: settings are variables, as in ${example}`)
}
