import { fileURLToPath } from 'node:url'
import { build, type BuildOptions } from 'esbuild'

/** A bundled file, in base64. */
export interface BundledFile {
  path: string
  base64: string
}

/** The supported browsers: of the last three years, which have dialogs and `color-mix`. */
const browsers = ['chrome120', 'firefox121', 'safari17.2']

/** What all pages have in common that are bundled for browsers. */
export const forBrowsers = {
  outdir: '/',
  entryNames: '[name]',
  write: false,
  bundle: true,
  minify: true,
  format: 'esm',
  jsx: 'automatic',
  legalComments: 'none',
  logLevel: 'silent',
} as const satisfies BuildOptions

/** Bundles the page for browsers. */
async function bundle(): Promise<BundledFile[]> {
  const { outputFiles } = await build({
    ...forBrowsers,
    entryPoints: ['main.tsx', 'styles/page.css'],
    absWorkingDir: fileURLToPath(new URL('../../admin/', import.meta.url)),
    target: browsers,
    jsxImportSource: 'preact',
  })
  return outputFiles.map(({ path, contents }) => ({ path, base64: Buffer.from(contents).toString('base64') }))
}

if (import.meta.main) process.stdout.write(JSON.stringify(await bundle()))
