/**
 * Small letters that the tokenizer merges: each entry is a pair that is a token, and then the letters with which it is a
 * token of three. The test asks the tokenizer for each.
 */
export const mergedLetters = `
aaacdelnqrst ababcdehilorstuwy acacdefhiklorstuyz adabcdehijlmorstuvxyz aeacds afabdefirstuvxy agabdeghilmnorstuy
ahailnorsuy aidehlmnorst ajaeijnorstu akacehiknorstuwy alabcdefgiklmopqstuyz amabdehilmnopstuy anacdefghijkmnostuwyz
ao apaehikloprstuy aqu arabcdefgiklmnoprstuyz asacdeghiklmnopstuyz ataehiklmorstuyz auabcdfghijklmprstvwx avaeginorsuy
awabcdgiklmnorsuvwy axabeiosxy ayadeinosuy azaehiouyz baabcdeghklmnorstuyz bbbcesw bcc bdd beabcdefghijklmnrstvwz bfd
bg bhae biabcdegjlnorstyz bj bk blaeikoruy bmp bnb boabdgjklmnorstuwxy bps braeou bsdt btcn budfgklmnrsty bv bw bx
byegnst bz cabcdfklmnopqrst cbc ccabcdio cdcfnr ceabcdefijklmnprstuv cffg cgi chaegiklnorstuwy ciadeilnoprstu cjai
ckaeiosty claefikrs cmbdps cnnt coadelmnprstuvwx cpfpuy cq craceimoty csrsv ctaeloprsx cubeklmnprst cv cwd cx cyj czy
daabcdefgjklmnopqrstvy dbcghlo dcc ddabdeilsy deabcdefgijklmnoprstvwxz dfas dge dha diabcdefgkmnoprstv dje dk dlagl
dma dnais dobcdgiklmnoprstuw dpi dq draeovy dslnt dto duabceklmprstux dvd dw dx dymnr dzei eadmnrtx ebabeioruy
ecacdehinostuz edadefiostuy eedeflmnprs efadefistu egadegilnostuy ehr eidglnrt ej ekaehiklostuw elabdefhijklmnopstuy
emabdeimnopqstuy enacdeghijkmnostuvyz eo epaiosy equ erabcdegiklmnoprstuvyz esacehikmopstuyz etacehilorstuyz eursx
evaet ewanosu exaceopt eyadeinos ez faabcdflmnqrstvxz fb fcc fdes feabcdeilnorstw ffacdefist fg fh fiabcdgklmnorstx fj
fk fldeotuy fmt fni fodglnorstx fps fq fraeimo fsimpt ftaeipsy fulmnrs fv fw fx fynr fz gaabdehlmnoprstuvyz gbaeu gcc
gd geabdefghklmnoprstvwyz gfx ggaeijy ghait giadefglnorstuv gja gleimuy gmt gnaeu godlmnorstvw gpsu graeopuy gsmt gtek
guaeilmnrst gv gwa gx gyilmz gz haabcdfghiklmnoprstuvwyz hb hcp hdlr heabdefgijklmnoprstuvwxyz hf hg hhh
hiabcdklmnpqrst hj hk hlaeit hmae hnaet hoabcdefgiklmnoprstuvwz hpp hq hraest hst htaeiotu huabdgiklmnrst hv hwa hx
hydprw hz iabcdehijklmnopqrstuvz ibabehilorstuy icacehiklostuyz idadefhilmorstuxyz iebcdfghijklmnprstuvwxz
ifaefilorstuy igadeghilmnorstuy iheilu iidinstv ijadefiklnopstu ikaehiklorstuwy iladeghiklmostuy imabdeghimopstuy
inacdefghijknopqstuvxyz ioacdgjlmnqrstuvx ipacehiloprstuvy iqu iracdegiklmopqrstuy isabcdehiklmopstuyz
itaeghilmorstuyz iulmnps ivaeiorstuy iwae ixaeio iyaeioy izaehimoruyz jaabcdhiklmnrstvwxyz jb jc jdek
jebcdegjklmnrstuvz jf jg jh jiadehkmnrst jj jk jl jmp jnaeio jobejmnrsuy jpg jq jr jspx jte jubdgklmnrst jwt jx jy
kaabdhijlmnprstuyz kbd kc kd keadehijlmnprstvyz kf kgs kh kiadehilmnprst kjae kkae klaeu kms kne koabdghjklmnoprstuvwz
kp krae ksait ktaefiru kuabjklmnprstu kv kwa kx kynt labcdfghiklmnpqrstuvwy lbls lcd ldabeirsty
leabcdefghijklmnoprstvwxyz lf lge lhaeos liabcdefghjkmnopqrstuvyz ljaeiu lk lladeilotu lm lng loabcdefghjklmnoprstuvwx
lp lrt lsaeiltx ltefkrs luabcgklmnrstvx lvl lwa lx lyagknst lz maacdfghijklmnopqrstxyz mba mc mdbil meadeghiklmnrstxyz
mf mgr mh miacdeghklnrstxz mj mk mlaux mmaeim mnt mobdgklmnorstvz mphilr mq mrs msacgt mtps mudilmnrstxyz mvc mw mx
mypsz mz naabdefghijklmnpqrstvyz nbar nc ndaeilors neabcdefghijklmnoqrstuvwyz nf ngaeiorux nh niacdehijklmnoprstuv
njaeiou nk nl nm nne nocdfghijklmnprstuvw npcjm nr nskt ntaehilsuy nubdlmnrst nv nw nx nyaeimt nz oadkns
obabehijlorstuy ocacehiklorstuyz odabdehiopsuyz oekns ofadfistuy ogaeghilnorsuy ohailnuy oidlnrst ojaeinou
okaeikorstuw oladefgijklmostuvy omabehimnopstuy onacdegijknostuyz oodgjklmnopqrt opacefhiloprstuy oq
orabcdefgiklmnoprstuyz osacehiklmopstuy otaehiloprstuy oubcdefgiklmnprstvwxz ovaeinosuy owaeilnosy oxaeioy oyaeiosu
ozeny paacdgiklmnpqrstuwy pbs pcbhimst pdfo peacdegiklmnpqrstvxyz pfl pg phaeiopry piacdegklnoprstx pj pkgt plaeilosty
pmn png podgijklmnpqrstwxz ppaeimostuy pq pradeiost pscityz ptaehiorsy publnrst pv pwd px py pz qablmnrst qb qc qda qe
qh qidnq qli qml qn qo qp qqau qrty qs qtty quaeios qw qx qy raabcdefghijklmnopqrstuvwxyz rb rch rdf
reabcdefghijklmnopqrstuvwxyz rf rgb rhos riabcdefgijklmnoprstuvxyz rk rl rm rnadeg robcdefghijklmnopqrstuvwxyz rpcm rq
rr rsapst rtcl rubdfghikmnpstz rv rw rx rydfklmnstw rz sabdklmnprstvy sb scaehpr sdk seabcdefghiklmnopqrstvxy sf sgi
shaeioru siabcdeglmnprstxz sj skabeioruy slaeu sms snds soabceflmnouyz spadefilory sqlm srcv ssacdfhiklpst
stadehikmorsuvwy submnprst svcgnp sw sx symnsz sz taabfgijklmnprstuxy tbl tcp tday teacdegijklmnprstvxz tf tgl
thaeiorsuy tiacdegiklmnprst tje tk tles tmlp tn toacdefgijklmnopqrstuwxy tphl traeiklosuxy tsaikxy ttaeilpsuy tumnr tv
two txnt tympsw tz uaabghjklmnqrst ubabehilorsuy ucacehiklorstuz udadehiopsuyz uebdiklmnrstz ufaefistu
ugabcdeghilnoqstu uhaeilnu uiabdeglnrstu ujaeiou ukaehikostuy uladefgiklmopstuy umabdeilmnopstuy unacdegijknopstuyz
uojnst upadehiloprstuy uq urabdefgiklmnoprstuyz usabcdehikoprstuyz utacefhimorstuyz uudmnrstu uvaeiouw uwade uxae
uyaeiou uzaeiouz vaacdehijklmnoprst vb vc vd vecdeghijklmnrstuyz vf vgl vh viacdeghklmnoprstvz vj vk vlo vm vn
vocdgijlmnqrsuxyz vpn vq vrdeot vsp vtk vuemnrs vv vwa vx vyk vz waabdghiklmnprstuvxy wb wch wda webdeghiklmnrstyz wf
wg whoy wiacdegjklnrstz wj wk wl wm wndg wohlnorw wps wrk wsz wt wur wv www wx wydlnrs xaabcdef xbabcdef xcabcdef
xdabcdef xeabcdeflrs xfabcdef xhr xiacmnstv xls xml xn xonr xp xr xs xtaoy xu xxx xyz xz yaachiklmnrstwy yb ychlz yddi
yedeklnrstvz yf ygy yh yiin yj ykl ylaely ymeimoy ynacdeinotuy yonrsu ypey yreisy ysaegikmtyz ytahiotuy yumn yv yw yx
yyy yz zacdghklmnoprst zb zcaz zd zeacdegijklmnprstwz zf zg zhi ziaefgjklmnoprstuy zkaioy zl zm znaeiy zolnrsu zp zr
zs ztae zubfgklmrst zwae zx zycgkmn zzaoz
`;
