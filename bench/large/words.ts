/** One in ten of the texts has it: the word that a tenth of everything has. */
export const commonWord = 'report'

/** What texts are made of. */
export const words = (
  'the and for with from this that have will our your team plan draft meeting customer invoice contract budget design ' +
  'release server client update review question answer number quarter morning afternoon tomorrow office project ' +
  'deadline version feature ticket issue test build deploy branch merge comment picture folder document table chart ' +
  'figure summary notes agenda minutes action decision risk estimate schedule holiday travel hotel train lunch coffee ' +
  'room floor building key badge laptop screen phone mail calendar link page form button color layout font logo brand ' +
  'launch market sales partner vendor order price offer discount payment refund account profile password login token ' +
  'access member guest admin role right policy rule law privacy data backup restore export import search filter sort ' +
  'list detail view edit delete archive pin star like share follow invite join leave mute alert reminder task goal metric ' +
  'trend survey poll vote option result winner feedback idea concept sketch prototype demo video audio music photo album'
).split(' ')

export const givenNames = (
  'Ann Ben Eve Kim Anna Annika Liam Noah Emma Mia Lena Paul Tom Max Ida Ella Leo Finn Nora Lucas Hugo Alice Zoe Jack ' +
  'Ryan Amy Sara Omar Ali Layla Yuki Hana Ken Ravi Priya Arun Chen Wei Mei Lin Ivan Olga Petra Jan Eva Marek Tomas Lucia Pablo Ana'
).split(' ')

/** Two of these make a family name. */
export const syllables =
  'ber mann stein feld hof bach wald berg dorf hauser lind ström holm quist gren sen son vik dal rud ner ler ker man ton ley field wood ham worth'.split(
    ' ',
  )
