import { basename, join } from 'node:path'
import { build } from 'esbuild'
import { forBrowsers } from '../http/admin/bundle.ts'

const src = join(import.meta.dirname, '..')

/** The pages, bundled for browsers: the content of each file by its name. */
export async function bundlePages(): Promise<Map<string, Uint8Array>> {
  const { outputFiles } = await build({
    ...forBrowsers,
    entryPoints: ['person.tsx', 'stage.tsx', 'parts/parts.tsx', 'page.css'],
    absWorkingDir: join(import.meta.dirname, 'page'),
    target: ['chrome123', 'firefox121', 'safari17.5'],
    define: { 'process.env.NODE_ENV': '"production"' },
    alias: {
      '@parley/client/still': join(src, 'client/testing/still.ts'),
      '@parley/client': join(src, 'client/index.ts'),
      '@parley/react': join(src, 'react/index.ts'),
    },
  })
  return new Map(outputFiles.map(({ path, contents }) => [basename(path), contents]))
}
