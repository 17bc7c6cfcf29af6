/**
 * Words that are one token, with a space before, small and with a capital: the test asks the tokenizer for each. A word
 * that is missing here is only counted too high.
 */
export const commonWords = `
aan ab aber ability able about above absol absolute absolutely abstract abuse ac academ academic acc acceler accept
accepted access accessible accident accord according account accounts accuracy accurate achter acid across act action
actions activ active activities activity actor actual actually ad adapt adapter add added adding addition additional
address addresses adds adjust admin administr administration adopt adult adults advance advanced advantage advent
adventure advert advertising advice advis advoc af affect affiliate affordable afin after afternoon ag again against
agencies agency agent agents ages agree agreement agric agus ahead airport ak akan aktiv al album alcohol alert algo
algorithm align aliment all alla alle alleen alleg aller alles alloc allow allowed allows almost alone along alors
already als also alta alter altern alternative although always am amaz amazing amen amer amin among amor amount ampl
an anche ancient and anda ander andere anders android ang angle anim animal animals animation ann annual another
answer answers ante antes anti anxiety any anyone anything anyway anywhere ap apar apart apartment aplic app appe
appeal appearance append applic applicable application applications applied apply appointment appreciate appro
approach appropriate approval approved approximately apps apro aqui ar arbe arch architect are area aren arg args
argument arguments arms around arr arrangement array arrest art article articles artist artists arts as asked asking
aspect ass assembly assert assess assessment asset assets assign assigned assim assist assistance associated
association assume async at att attached attack attempt attend attention attr attractive attribute attributes au auch
audience auf aut auth author authorities authority authors auto autom automatic automatically autor av availability
available avant avec average avoid aw await award awareness away awesome axis ba baby back background balance ball
band bang bank banks bann bare bars base based basic basically basis basket bast batch bath bathroom batter battery
battle be beach bear beat beaucoup beaut beautiful beauty bec because become becoming bedroom been beer before beg
begin beginning begins behavior behind beim being bel believe below ben bench benef benefit benefits bent bere besch
best beste bet beta better betting between beyond bias bien bigger biggest bike bill billion binary bind binding
binnen bird birth birthday bisa bits bl black blank bless block blocks blog blood blue bo board boat bodies body bold
bomb bond bone bonus book booking books bool boolean boost boot border born both bott bottle bottom bought bound bout
boxes boys br brain branch brand brands bread break breakfast breath brief bright bring bringing broad broadcast
broken brother brown brows browser bu buck budget buff buffer build builder building buildings built bundle burn bus
business businesses busy but butter button buttons buying by byte bytes cable cache cada cake cal calcul calculate
call callback called calling calls camb came camp campaign campus can cancel cancer candidate candidates cann cannot
cant cap capac capacity capital capt capture car cara caracter carbon card cards care career carefully carr carry cars
cart cas casa case cases cash caso cast casual catalog catch categor categories category cause causes ce cela cele
celebr celebrate cell cells cent center central centre century cert certain certainly certificate cette ch chain chair
chall challenge challenges cham champ chance chances chang change changed changes changing channel channels chapter
chaque char character characteristics characters charg charge charges chart chat che cheap check checked checking
checks chem chemical cher chez chicken chief child children cho chocolate choice choices choose choosing church cidade
circ circle circuit cities citizens city civil cl claim claims clar class classes classic cle clean cleaning clear
clearly click client clientes clients clim climate clin clinical clip clock clos close closed cloth clothes cloud club
cluster co coach coal coast code codes coding coff coffee coin col cold coll collabor collaboration collect collection
collections colleg college colon color colors colour column columns com comb combat combination combine combined come
coment comerc comes comfort comfortable coming comm command comme comment comments commercial commission commit
commitment common commun communication communities community como comp compact companies company compar compare
compared comparison compat compet competition competitive compl complaint comple complement complete completed
completely completion complex compliance component components compr comprehensive comput computer comun comunic con
conc conce concentr concept concern concert concrete cond condition conditions conduct conf conference confidence
config configuration confirm conflict conhe conn connect connected connection connections cons conse consent conserv
consider considering console const constant constit construct construction constructor consult consum consumer
consumers cont contact container contains contemporary content contents contest context contin continu continue
continued continuing contr contract contrast control controlled controller controls conv conven convenient convers
conversation conversion convert cook cookie cookies cooking cool copies copy copyright cor core corner corpor
corporate corr corre correct correspond cort cost costs could coun count counter countries country county couple cour
course courses court cout cover coverage covered covers cr craft crash crazy cre cream creat create created creates
creating creation creative cred credit crime criminal crisis crit critical cross crow crowd cruc crusher crushing
crypt cu cult cultural culture curr currency current currently cursor cust custom customer customers cutting cycle da
daar daily dalam damage damit dan dance danger dangerous dann dans dari dark das dass dat data database dataset date
dates dating daughter day days de dead deal deals death debate debt debug dec decide decision decisions deck decl
declar decor dedicated deep def default defense define defined definit definitely definition degree degrees del delay
delete deleted delicious delight deliver delivered delivery dell dem demand democr demonstr den dengan dent dep depart
department depend depending depends depois deposit depth depuis der dere des desc describe description desde desenvol
design designed designer designs desire desired desk despite dess dest destination destroy det detail detailed details
detect determ determine deux deve develop developed developers developing development device devices deze di diabetes
diagn dialog diam dias dice dich dict dictionary did didn die dies diese dieser diet dif difer diff differ difference
differences different difficult digit digital dimension dining dinner dipl dire direct direction director directory
direkt dis disable disabled disc discount discover discuss discussion dise disease dish disk disp dispatch display
dispon disse dist distance distr distributed distribution district divers diverse division do doch doctor document
documentation documents does doesn dogs doing dois doll dollars domain domestic domin don donc done dont door doors
dorm dose doub double down download dr draft drag dram draw drawing dream dress drink drive driver drivers driving
drop drug drugs du dump dumpster dur duration durch during dust dynam dynamic each earlier early earn earth eas ease
easily easy eating echo echt econ econom economic economy ed edge edit edition editor educ education educational een
eerste eff effect effective effects efficiency efficient efter eigen eight ein eine einen einer einfach eing either el
elect election electr electric electrical electronic eleg elektr element elements eles elev elig eligible elimin ella
elle eller else em email emails emerg emergency emit emotional employ employee employees employment empres empty en
enable enabled encontr encore encounter encour encourage end ending ends enemy energ energy eng engage engagement
engine engineering enhance enjoy enough ensure ent enter enterprise entertainment enth entire entity entr entre
entries entry enum enumer environment environmental epis episode equ equal equip equipment equipped er err error
errors erst es escape escol escr espa especial especially esper essa essay esse essential est esta establish
established estate este estimated esto estr et euro evaluate evaluation even evening event events eventually ever
every everyday everyone everything evid evidence evol ex exact exactly exam example examples excel excellent except
exception excess exchange exclus exclusive execut execute execution executive exerc exercise exhib exist existe
existing exists exit exp expand expect expectations expected exper experience experienced experiences experiment
expert expertise experts expl explain explained explore export exposure express expression ext extend extended
extension extensive external extr extract extrem extremely eyes fa fabric face faces facil facilities facility facing
fact factor factors factory facts fail failed failure fair faire faith fake fall false fam famil families family
famous fans fant fantastic farm fasc fashion fast faster father fault favor favorite favourite fazer fe fear feature
featured features featuring federal feed feedback feel feeling fees feet fell fellow felt female fest festival fetch
few field fields fight fighting figure figures fil file filename files fill filled film films filter filters fin final
finally financ finance financial find finden finding finds fine finish finished fire firm firms first fish fitness
five fixed fl flag flags flash flat flex flexible flight float floor flow flowers focus fold folder folks follow
following fonction fond font food foods foot football for foram force forced forces fore forecast foreign forest
forever forget form formal format formation former forms fort forum forward foto found foundation four fourth fr
fragment fram frame framework free freedom frente frequency frequently fresh fri friend friendly friends from front
fruit fuel fuer full fully fun func funcion function functional functions fund fundament fundamental funding funds
funk funny furn furniture further future gain gambling game games gaming gang ganz garage garant gard garden gast
gather ge gear gebruik geen gegen geld geme gender gene gener general generally generate generated generation generic
genre gent gere gesch gest get gets getting gibt gift gifts girl girls give given gives giving gl glad glass glob
global go goal goals goed goede goes going gold golf gone good goods google gover govern government gr grab grad grade
gran grand grande grandes grant granted graph graphics grass grat gratis gratuit grav great greater greatest green
grid groot grote ground group groups grow growing growth grup gu guarantee guaranteed guard guess guest guests guid
guidance guide guidelines gust guys ha haar hab habe haben habit hace had hair half hall hand handle handler handling
hands hang happ happens happy hard hardware harm has hash hate have haven having he head header headers health
healthcare healthy hear heard hearing heart heat heavy heeft heel height hel held hele hell help helpful helping helps
her here hero hers het hidden hide hier high higher highest highlight highly him himself hire his hist histor
historical history hits ho hold holder holding holds hole holiday home homes honest honor hoog hook hope hora horiz
horm horr horse hospital host hosting hotel hotels hour hours house household houses housing how however html http
huge huis human humans hund hundred hundreds hurt husband hyper icon id ide idea ideal ident identify identity if
ignore igual ihre ik ikke il illustr im imag image images imagine immediate immediately immer impact imper impl
implement implementation implements import importance important impossible impress improve improved improvement in
inches incident incl include included includes including inclus income incorpor increase increased increasing
incredible ind inde indeed independ independent index indic individ individual individuals industr industrial
industries industry infl influence info inform information infrastructure ingred ingredients init initial initialize
injury inline inner innov innovation innovative input inputs ins insert inside insp inspir inspiration inspired inst
install installation installed instance instant instead instit institution institutions instr instruction instructions
instrument insurance int inte integer integr integrated intelligence intended intens intent inter interaction interess
interest interested interesting interests interface interior intern internal international internet interpret interval
interview into intr introduction inv invalid invent inventory invest investig investigation investment investors iron
is island isso issue issues ist it item items iter its jaar jack java je jest jetzt jobs join joined joint jong jour
journ journal journey json jump just justice ka kana kang kann kans ke keep keeping keeps keine kenn kernel key
keyboard keys kick kids kill kind king kita kitchen kleine kn know knowing knowledge known kont kort kost kosten ku
kung la laat label labels labor lack land lang lange language languages laptop large larger largest las lassen last
late later latest launch laws layer layers layout le lead leader leaders leadership leading leads league learn learned
learning least leather leave leaves leaving lect left leg legal legend legit legs leng length les less lessons let
lets lett letter letters leur level levels lever libert library license licensed life lifestyle lift light lighting
lights ligne like likes lim limit limited limits line lines link linked links liqu liquid list listed listen listener
listening listing lists liter little live lives living lleg lo load loaded loading loan loans loc local located
location locations lock log logger logging logic login logo lomb long longer look looking looks loop lors los lose
losing loss lost lots love loved lovely loves lower luck lunch luxury ma maar mach machine machines made magazine
magic magn magnet mail main mainly maint maintain maintenance mais maison major majority mak maka make makes making
male man mana manage managed management manager managing mand mane mang manifest manip mant manual manufact
manufacturer manufacturers manufacturing many mapping mar march marg margin mark marker market marketing markets marks
marriage married mart mas mask mass massage massasje massive master mat match matches matching mater material
materials math matrix matt matter matters max maximum may maybe mayor me meal meals mean meaning means measure
measures meat mechan med medic medical medicine medium meer meet meeting mehr meio mejor melhor memb member members
membership memory men meng mens mensen ment mental mention menu merc mere merge mesh mess message messages met meta
metal method methods mich middle might migr migration mijn miles military milk mill million millions min mind mine
miner mini minimal minimum mining minister minor minute minutes miss missing mission mist mit mixed mo mobil mobile
mock mod modal mode model models moder modern modified modify module mole moment moments mon mond monde money monitor
monitoring mont month monthly months more morning mort most mostly mother motion motiv motor mount mountain mouse
mouth mov move movement moves movie movies moving mu much mujer mulher mult multip multiple mund municip murder mus
muscle music musical muss must my myself myst na naar nach nacional nada name named names namespace narr nation
national native natur natural nature navigation ne near nearby nearly neces necess necessary neck need needed needs
negative neighbor neighborhood nerv net nett network networks neue never new newly news next ng ni nice nicht niet
nieuw nieuwe night nine ning nivel no noch node nodes noise nombre nome non none norm normal normally north nost not
note notes nothing notice notification notre nous nova novel novo now null num number numbers numer numerous nutr ob
object objects objet oblig observ obst obtain occasion occup oder of off offer offered offering offers office officer
official officials offset often og ohne old older om omdat on once onde onder one ones online only onze op open
opening oper operating operation operations operator opin opinion opportun opportunities opportunity opt optim option
optional options or order ordered orders org organ organic organiz organization organizations orient orig origin
original originally os oslo other others otherwise otra otro ou our out outdoor output outside outstanding over
overall override own owned owner owners pa paar pack package packages packet pada padding page pages paid pain paint
painting pair pand pandemic panel pang pant paper papers par para param parameter parameters params parc pare parent
parents park parking parse parser part parte partial particip participants participate particular particularly partie
parties partner partners partnership parts party pas pass passe passed passing passion password past pat patch path
patient patients pattern patterns pay paying payload payment payments pays pe peace pela pelo pendant peng pens pent
people per percent percentage perd perf perfect perform performance performing perhaps period perm perman permanent
permission permissions permit pero pers person personal personally personnel persons perspective pert petit peut ph
pharm phase phen philosoph phone phot photograph phys physical pick picture pictures piece pieces pied pier pill pills
pink pipe pitch pl plac place placeholder places plain plan plane planet planned planning plans plant plants plastic
plate platform platforms play played player players playing plays please pleasure plenty plot plugin plus plusieurs po
poco podcast pode poder point pointer points pois poker pol polic police policies policy polit political poll poly
pont pool poor pop popular population por porque port portion pos pose position positions positive poss possible
possibly post posted poster posting posts potential pour powder power powerful pr pract practical practice practices
pre prec precis pred predict prefer preferred prefix preg prem premi premier premium prepar prepare prepared pres
presence present presentation presented presents president presidente press pressure prest pret pretty prev prevent
previous previously price prices prim primary prime primer prin princip principal print printed prior priority pris
prison priv privacy private prix pro prob probably proble problem problems proc proced procedure procedures proceed
proces process processes processing prod produ produce produced product production products prof profes profesional
profession professional professionals professor profile profit program programme programs progress project projects
projet prom promise promote prompt pron proof prop proper properties property proposed props pros prot prote protect
protected protection protein protest protocol proud prov proven provid provide provided provider providers provides
providing przy psych pu publ public publication publish published puede puis pull pump punt purch purchase purchased
purchasing pure purpose purs push put putting python qu qual qualified quality quand quant quantity quart quarter que
quel quelques quem quer query quest question questions queue qui quick quickly quiet quite quot quote quotes race radi
radius rail rain rais raise raised rand random range rank rapid rapport rare rate rates rather rating re reach react
reaction read reader readers reading ready real reality really rear reason reasons rec rece receive received receiving
recent recently recht recipe recipes recogn recom recommend recommendations recommended recon record recorded
recording records recover recovery recruit rect redirect redis reduce reduced reduction ref refer reference reflect
reform refresh refund reg regard regarding region regional regions register registered registr registration regul
regulations rein reject rel related relation relations relationship relationships relative relax release released
relevant reli reliable relief relig religion religious rem remaining remark remember remote remove removed rend render
renew renov rent rental rep repair repeat replace replacement reply report reporting reports represent representation
represents reputation request requested requests require required requirements requires res research researchers
reserv reserved reset resid residential residents resist resistance resol resolution resolve resort resource resources
resp respect respond respons response responses responsibility responsible rest restaur restaurant restaurants restr
result results resume ret retail retr return returned returning returns reve revenue reverse review reviews revis
reward rich ride right rights ring rise risk risks river ro road robot rock role roles roll roof room rooms root rough
round rout route router routes routine rows rule rules run running runs rust sa saber safe safety said sal salary sale
sales salt same samen sample samples sand sang sans save saved saving savings say saying says sc scale scan scene sch
sche schedule scheduled scheme schn schon school schools science scient scientific scope score scores scre screen
script scroll se search searching season seat second secondary seconds secret section sections sector secure security
see seed seeing seek seeking seems seen seg segment segu sehr sein seine seit seja selbst sele select selected
selection selector self sell selling sem sempre send sender sending senior sens sense sensor sent sentence separate
sept sequence ser serial serie series serious seriously serv serve served server service services serving session
sessions set sets sett setting settings setup seus seven sever several severe sh shadow shall shape share shared
shares sharing she sheet shel shell shift ship shipping shock shoes shoot shooting shop shopping shops short shot
should show shower showing shows shut si sich sick side siempre sight sign signal signature signed significant signs
silver sim similar simpl simple simply sin since sind sing single singles sink sino sist sistem sister sit site sites
sitting situ situation size sizes sk skal skill skills skin skip sl sleep slight slot slots slow slowly sm small
smaller smart smartphone smile smooth snap snow so sobre soc soci social society socket soft software soil sol sold
sole solic solid soll solo solution solutions solve som some someone something sometimes somewhere son song songs sono
soon sort sorted soul sound sounds sour source sources sous south sp space spaces span speak speaking spec special
specialist species specific specifically spect speech speed spend spending spin spirit spiritual split spons sport
sports spot spread spring square st staat stable stack stad staff stage stand standard standards standing star stars
start started starting starts stat state statement statements states static station statistics stats status stay std
ste steel stem step steps ster stick still stim stock stone stop stor storage store stored stores stories storm story
str stra straight strateg strategies strategy stre stream streaming street strength stress stretch strict string
strings strip stroke strong struct structure structures stud student students studies study stuff stunning styl style
styled styles su sub subject subjects submit submitted subs subscription subse succ success successful successfully
such suff suggest suggested suggestions suit suitable suite summ summary summer sup super superior supp supplement
supplies supply support supported supporting supports sur sure surface surg surgery surprise surround survey susp sust
sustain sw sweet switch symbol sympt symptoms synchron system systems ta table tables tablet tack tags tail tak take
taken takes taking talent talk talking tall tamb tang tank tant target targets task tasks taste taxes te teach teacher
teachers teaching team teams tech techn technical technique techniques technologies technology tecn teen teeth tegen
tele television tell tem tema temp temper temperature template tempor temporary temps tend tener tent ter term termin
terminal terms terr terror test tested testing tests text texture th than thank thanks that the their them theme then
theory therap therapy there therefore therm these they thick thin thing things think thinking third this thorough
those though thought thoughts thousands thread threat three through throughout throw throws thus ti ticket tickets
tidak tiene tight tijd tile till time timeout timer times ting tiny tipo tips title titles to toch toda today todo
together token tokens told tomorrow too took tool tools top topic topics torch torn tort tot total totally touch tough
toujours tour tous tout toute toutes towards town tr trab trabal trace track tracking tracks trad trade trading
tradition traditional traffic trail train training trait tran trans transaction transactions transfer transform
transition transl transmission transport tras trat trav travail travel treat treatment tree trees trem trend trends
tres trial trib tried trigger trim trip tritur trong trop trou trouble truck true truly trust truth try trying tube
tudo turn turning turns twee twice two type types typical typically uint um uma un una unable und undefined under
understand understanding une uniform union unique unit units univers university unknown unless unser unter until untuk
up upcoming update updated updates upgrade upload upon upper urban us usage use used useful user username users uses
using usually util vacation vacc val vale valid validate validation valor valuable value values van var vari variable
variables variant variety various vast ve vector veel veget vehicle vehicles vend vent ver verb verd verder verg
verify verk verm vers versch version versions vert vertical verw very verz vest veter vi vibr vice vict vida vide
video viel viele vier view views vill village ville vind viol violence virt virtual virus vis visible vision visit
visiting visitors visual vital vo voice void voir vol volt volume von voor vote votre vous vrij vulner wa waar wait
waiting wake walk walking wall wallet walls want wanted wants waren warm warning warranty was wash waste watch
watching water wave way ways we weak wealth wear wearing weather web website websites wedding week weekend weekly
weeks weight weiter welcome well wenn went wer werden were werk west wh whak what whatever wheel when whenever where
whether which while white who whole wide widget width wieder wife wild will wind window windows wine winner winning
winter wird wire wish with withdraw within without witness woman women wonder wonderful wood word words work worked
worker workers working works world worldwide worse worst worth would wrap write writer writers writing written wrong
ya yang yard year years yellow yesterday yield you younger your yourself youth zelf zero zijn zoals zona zonder zone
zorg zu zwei
`;
