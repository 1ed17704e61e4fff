/** Extensions of files that hold readable text: code, and text for people. */
export const textExtensions = {
  code: 'c cgi cpp cs cshtml css html java js json less php pl ps1 py rb rs scss sh sql swift ts xml yaml yml',
  text: 'markdown md txt',
}
