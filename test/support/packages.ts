import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)

/** A project made of Vite's template for React, with the packed packages in it as npm would put them there. */
export class ViteProject implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'parley-vite-'))

  static async make(): Promise<ViteProject> {
    const project = new ViteProject()
    const { folder } = project
    cpSync(join(root, 'node_modules/create-vite/template-react-ts'), folder, { recursive: true })
    const modules = join(folder, 'node_modules')
    for (const name of ['react', 'react-dom', '@types', 'vite', '@vitejs', 'typescript', '.bin']) {
      symlinkSync(join(root, 'node_modules', name), at(join(modules, name)))
    }
    const { stdout } = await run(
      'npm',
      ['pack', '--json', '-w', 'src/client', '-w', 'src/react'].concat(['--pack-destination', folder]),
      { cwd: root },
    )
    // What the scripts of a package say stands before the list of what was packed.
    const packed = JSON.parse(stdout.slice(stdout.search(/^[[{]/m))) as { name: string; filename: string }[]
    for (const { name, filename } of Object.values(packed)) {
      const target = join(modules, name)
      mkdirSync(target, { recursive: true })
      await run('tar', ['-xzf', join(folder, filename), '-C', target, '--strip-components=1'])
    }
    return project
  }

  write(path: string, text: string): void {
    writeFileSync(at(join(this.folder, path)), text)
  }

  read(path: string): string {
    return readFileSync(join(this.folder, path), 'utf8')
  }

  /** What `npm run build` of the template does. Rejects with what the compiler says. */
  async build(): Promise<void> {
    await this.run('node_modules/.bin/tsc', ['-b'])
    await this.run('node_modules/.bin/vite', ['build', '--logLevel', 'warn'])
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Runs a program in it. Rejects with what that says. */
  async run(program: string, args: string[]): Promise<void> {
    try {
      await run(join(this.folder, program), args, {
        cwd: this.folder,
        env: { ...process.env, NODE_ENV: 'production' },
      })
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string }
      throw new Error(`${program} ${args.join(' ')}: ${stdout}${stderr}`, { cause: error })
    }
  }
}

function at(path: string): string {
  mkdirSync(dirname(path), { recursive: true })
  return path
}
