import { readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { resolve, type ResolutionContext } from 'metro-resolver'

/** The file that React Native's bundler finds for a name, imported by a file of a project. */
export function resolveForReactNative(originModulePath: string, name: string): string {
  const getPackage = (path: string) => {
    try {
      return JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>
    } catch {
      return null
    }
  }
  const fileSystemLookup = (path: string) => {
    const found = statSync(path, { throwIfNoEntry: false })
    if (found === undefined) return { exists: false }
    return { exists: true, type: found.isDirectory() ? 'd' : 'f', realPath: realpathSync(path) }
  }
  const getPackageForModule = (path: string) => {
    for (let rootPath = path; dirname(rootPath) !== rootPath; rootPath = dirname(rootPath)) {
      const packageJson = getPackage(join(rootPath, 'package.json'))
      if (packageJson !== null) return { packageJson, rootPath, packageRelativePath: path.slice(rootPath.length + 1) }
    }
    return null
  }
  // As Metro and React Native set it for an import.
  const context = {
    originModulePath,
    getPackage,
    getPackageForModule,
    fileSystemLookup,
    doesFileExist: (path: string) => fileSystemLookup(path).type === 'f',
    mainFields: ['react-native', 'browser', 'main'],
    sourceExts: ['js', 'jsx', 'json', 'ts', 'tsx'],
    assetExts: new Set(),
    isESMImport: true,
    unstable_enablePackageExports: true,
    unstable_conditionNames: ['react-native'],
    unstable_conditionsByPlatform: { web: ['browser'] },
    unstable_logWarning: (message: string) => {
      throw new Error(message)
    },
    nodeModulesPaths: [],
    redirectModulePath: (path: string) => path,
    resolveAsset: () => null,
    resolveHasteModule: () => null,
    resolveHastePackage: () => null,
    allowHaste: false,
    preferNativePlatform: true,
  } as unknown as ResolutionContext
  const found = resolve(context, name, 'ios')
  if (found.type !== 'sourceFile') throw new Error(`${name} is no source file`)
  return found.filePath
}
