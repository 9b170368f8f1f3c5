# ruff: noqa: RUF001 - Turkish has a dotless i
"""Brands: what the names of companies and of their stores are made of, by tongue."""

from typing import Final

import msgspec

from service.sampling.seeded_random import Draw, pick
from service.sampling.words import listed


class Brands(msgspec.Struct, frozen=True):
    """Words for names, and their forms: `stem` and `other` are names or things, `trade` is a kind of shop.

    `groups` are the forms for companies that only own others, `legal` the endings that a registered name may have;
    `branches` tell a brand's stores apart.
    """

    stems: tuple[str, ...]
    trades: tuple[str, ...]
    forms: tuple[str, ...]
    groups: tuple[str, ...]
    legal: tuple[str, ...]
    branches: tuple[str, ...]

    def shop_name(self, draw: Draw) -> str:
        """Return a name for a company that has stores."""
        return self._name(self.forms, draw)

    def group_name(self, draw: Draw) -> str:
        """Return a name for a company that owns others."""
        return self._name(self.groups, draw)

    def _name(self, forms: tuple[str, ...], draw: Draw) -> str:
        place = int(draw() * len(self.stems))
        others = self.stems[:place] + self.stems[place + 1 :]
        return pick(forms, draw).format(stem=self.stems[place], other=pick(others, draw), trade=pick(self.trades, draw))


_ENGLISH: Final = listed("{stem} {trade}; {stem} {trade}; {stem} & {other}; {stem} & {other} {trade}; {stem}'s {trade}")
_TRADE_FIRST: Final = listed("{trade} {stem}; {trade} {stem}; {stem} {trade}; {trade} {stem} & {other}")

BRANDS: Final = {
    "US": Brands(
        listed(
            """Maple; Harbor; Summit; Prairie; Cedar; Lakeside; Redwood; Beacon; Granite; Pioneer; Bluebird; Sunrise;
            Copper; Heritage; Juniper; Frontier; Magnolia; Evergreen; Carter; Hudson; Bennett; Whitfield; Delgado;
            O'Brien; Nguyen; Kowalski; Ellison; Peña; Marlow; Hawthorne; Calloway; Mercer; Big Sky; Blue Mesa"""
        ),
        listed(
            """Grocers; Hardware; Pharmacy; Outfitters; Books; Bakery; Market; Pet Supply; Furniture; Auto Parts;
            Optical; Coffee; Shoes; Electronics; Garden Center; Toys; Sporting Goods; Foods"""
        ),
        _ENGLISH,
        listed("{stem} Holdings; {stem} Retail Group; {stem} & {other} Partners; {stem} Brands"),
        listed("Inc.; LLC; Corp.; Co."),
        listed(
            """Downtown; Northgate; Riverside; Airport; Mall; Crossing; Plaza; Eastside; West End; Town Center;
            Uptown; Village"""
        ),
    ),
    "CA": Brands(
        listed(
            """Aurora; Birchwood; Cascade; Dominion; Elk Ridge; Fraser; Glacier; Huron; Kestrel; Laurentian;
            Loon Lake; Muskoka; Northern; Okanagan; Portage; Red River; Selkirk; Timberline; Trillium; MacLeod;
            Campbell; Singh; Wong; Fitzgerald; Ross; Sinclair; Tessier; Petrov"""
        ),
        listed(
            """Grocery; Hardware; Drugs; Outfitters; Books; Bakehouse; Market; Pets; Furniture; Tire; Optical; Coffee;
            Shoes; Electronics; Garden Centre; Toys; Sports; Hockey"""
        ),
        _ENGLISH,
        listed("{stem} Holdings; {stem} Retail Group; {stem} Capital"),
        listed("Ltd.; Inc.; Limited"),
        listed(
            "Downtown; Centre; Heights; Harbourfront; Airport; Mall; Common; Westgate; Lakeshore; Old Town; Crossroads"
        ),
    ),
    "QC": Brands(
        listed(
            """Tremblay; Gagnon; Bouchard; Côté; Bélanger; Lévesque; Pelletier; Gauthier; Fortin; Ouellet; Thériault;
            Boréal; L'Érable; La Rivière; Mont-Royal; Les Laurentides; Saint-Laurent; L'Étoile; Charlevoix; Cartier"""
        ),
        listed(
            """Boulangerie; Quincaillerie; Pharmacie; Dépanneur; Épicerie; Librairie; Fromagerie; Meubles; Lunetterie;
            Chaussures; Café; Pâtisserie; Marché; Animalerie; Sports"""
        ),
        _TRADE_FIRST,
        listed("Groupe {stem}; Gestion {stem}; Placements {stem}"),
        listed("inc.; ltée"),
        listed(
            "Centre-ville; Vieux-Port; Gare; Carrefour; Les Galeries; Plateau; Haute-Ville; Aéroport; Place du Marché"
        ),
    ),
    "MX": Brands(
        listed(
            """Hernández; La Esperanza; El Águila; San José; La Paloma; Del Valle; Martínez; El Sol; La Estrella;
            Quetzal; Ibáñez; El Roble; Guadalupe; Del Norte; La Española; Azteca; Peña; Muñoz; El Trébol; Santa Fe;
            Luján"""
        ),
        listed(
            """Abarrotes; Ferretería; Farmacia; Panadería; Zapatería; Librería; Mueblería; Papelería; Óptica;
            Carnicería; Tortillería; Juguetería; Refaccionaria; Dulcería; Mercería; Súper"""
        ),
        _TRADE_FIRST,
        listed("Grupo {stem}; Corporativo {stem}; Controladora {stem}"),
        listed("S.A. de C.V.; S. de R.L."),
        listed("Centro; Plaza; Norte; Sur; Aeropuerto; Galerías; Mercado; Del Valle; La Estación; Terminal; Alameda"),
    ),
    "BR": Brands(
        listed(
            """São João; Boa Vista; Ipê; Araújo; Conceição; Santa Luzia; Estrela; Guarani; Almeida; Brandão; Paraná;
            Aurora; Horizonte; Três Irmãos; Magalhães; Nova Era; Cruzeiro; Bandeirante; Sabiá; Tucano; Gonçalves"""
        ),
        listed(
            """Padaria; Farmácia; Supermercado; Livraria; Calçados; Móveis; Drogaria; Papelaria; Ótica; Açougue;
            Armarinho; Confecções; Ferragens; Atacadão; Pet Shop; Empório"""
        ),
        _TRADE_FIRST,
        listed("Grupo {stem}; {stem} Participações; Holding {stem}"),
        listed("Ltda.; S.A.; ME"),
        listed(
            "Centro; Shopping; Matriz; Aeroporto; Rodoviária; Zona Norte; Zona Sul; Praça; Jardins; Vila Nova; Mercado"
        ),
    ),
    "AU": Brands(
        listed(
            """Banksia; Wattle; Kookaburra; Southern Cross; Coral; Outback; Ironbark; Jarrah; Currawong;
            Billabong Creek; Eucalypt; Bluegum; Tasman; Kimberley; Murray; Macquarie; O'Connor; McKenzie;
            Papadopoulos; Tran; Sharma; Whitlock; Hargreaves; Opal"""
        ),
        listed(
            """Grocers; Hardware; Chemist; Outfitters; Books; Bakery; Butchers; Pets; Furniture; Auto; Eyewear;
            Coffee; Surf; Electrical; Nursery; Toys; Camping; Cellars"""
        ),
        _ENGLISH,
        listed("{stem} Holdings; {stem} Retail Group; {stem} Investments"),
        listed("Pty Ltd; Ltd"),
        listed("CBD; Central; Beach; Harbour; Westfield; Junction; Airport; Heights; Markets; Arcade; Marina"),
    ),
    "GB": Brands(
        listed(
            """Ashdown; Thornbury; Kestrel; Fairfax; Pemberton; Hartley; Wren; Oakham; Whitmore; Redfern; Blackwood;
            Fothergill; Larkspur; Pennine; Severn; Cotswold; Thistle; Patel; Ahmed; Llewellyn; MacGregor; O'Neill;
            Brontë; Merryweather; Penhaligon; Tamar; Castlegate; Foxglove"""
        ),
        listed(
            """Grocers; Ironmongers; Chemists; Outfitters; Books; Bakers; Butchers; Pets; Furnishings; Motor Spares;
            Opticians; Tea Rooms; Shoes; Electrical; Garden Centres; Toys; Stationers; Wines"""
        ),
        _ENGLISH,
        listed("{stem} Holdings; {stem} Group; {stem} & {other} Estates"),
        listed("Ltd; plc; Limited; LLP"),
        listed(
            """High Street; Market Place; Retail Park; Station; Quayside; Old Town; Cross; Arcade; Parkway; Riverside;
            Gate"""
        ),
    ),
    "FR": Brands(
        listed(
            """Lefèvre; Moreau; Garnier; Chevalier; Beaumont; Rousseau; Mercier; Fontaine; Gérard; Bénard; Les Halles;
            Le Cèdre; L'Olivier; La Colombe; Saint-Martin; Belle-Île; L'Étoile; Côte d'Azur; Montagne; Dubois; Hervé;
            Le Phare; Grand Large; Les Trois Chênes"""
        ),
        listed(
            """Boulangerie; Épicerie; Pharmacie; Librairie; Fromagerie; Boucherie; Quincaillerie; Bijouterie;
            Parfumerie; Meubles; Optique; Chaussures; Primeurs; Jardinerie; Café; Pâtisserie; Maison"""
        ),
        _TRADE_FIRST,
        listed("Groupe {stem}; {stem} Participations; Financière {stem}"),
        listed("SA; SARL; SAS"),
        listed(
            """Centre-Ville; Gare; Rive Gauche; Vieux-Port; Les Halles; Aéroport; Place du Marché; Nord; République;
            Cathédrale"""
        ),
    ),
    "DE": Brands(
        listed(
            """Schneider; Müller; Weber; Krüger; Schäfer; Hoffmann; Jäger; Böttcher; Vogel; Lindner; Köhler; Sommer;
            Strauß; Fröhlich; Nordlicht; Alpenblick; Rheinufer; Goldener Hirsch; Sonnen; Adler; Hansa; Elbe; Grünwald;
            Brückner; Yılmaz; Nowak"""
        ),
        listed(
            """Bäckerei; Buchhandlung; Apotheke; Feinkost; Möbel; Schuhe; Optik; Getränkemarkt; Elektro; Metzgerei;
            Moden; Drogerie; Gartencenter; Spielwaren; Fahrräder; Baumarkt; Reformhaus"""
        ),
        _TRADE_FIRST,
        listed("{stem} Holding; {stem} Gruppe; {stem} Beteiligungen; {stem} & {other} Verwaltung"),
        listed("GmbH; AG; KG; GmbH & Co. KG; e. K."),
        listed(
            "Zentrum; Bahnhof; Altstadt; Am Markt; Nord; Süd; Einkaufszentrum; Flughafen; Marktplatz; Neustadt; Hafen"
        ),
    ),
    "ES": Brands(
        listed(
            """García; Núñez; Ibáñez; Peñalver; Del Río; La Giralda; El Olivo; Montaña; Serrano; Cortés; La Concha;
            Álvarez; Echevarría; Puig; El Faro; Santa Ana; Castilla; Mediterráneo; Ordóñez; Albéniz; La Granja;
            Sierra Nevada"""
        ),
        listed(
            """Panadería; Ferretería; Farmacia; Librería; Zapatería; Óptica; Muebles; Ultramarinos; Frutería;
            Carnicería; Papelería; Joyería; Perfumería; Bodega; Electrodomésticos; Juguetes"""
        ),
        _TRADE_FIRST,
        listed("Grupo {stem}; Inversiones {stem}; Corporación {stem}"),
        listed("S.L.; S.A.; S.L.U."),
        listed(
            """Centro; Plaza Mayor; Estación; Ensanche; Puerto; Centro Comercial; Norte; Casco Antiguo; Aeropuerto;
            Rambla"""
        ),
    ),
    "IT": Brands(
        listed(
            """Rossi; Ferrari; Bianchi; Colombo; Conti; Marchetti; De Luca; D'Angelo; Fontana; Caffarelli; Bellavista;
            Aurora; San Marco; Il Girasole; La Torre; Nicolò; Vesuvio; Dolomiti; Laguna; Tre Fontane; Brambilla;
            Sant'Agata"""
        ),
        listed(
            """Panificio; Ferramenta; Farmacia; Libreria; Calzature; Ottica; Arredamenti; Alimentari; Pasticceria;
            Macelleria; Cartoleria; Gioielleria; Profumeria; Enoteca; Caffè; Abbigliamento"""
        ),
        listed("{trade} {stem}; {trade} {stem}; {stem} {trade}; {trade} {stem} e {other}; {stem} & Figli"),
        listed("Gruppo {stem}; {stem} Partecipazioni; Finanziaria {stem}"),
        listed("S.p.A.; S.r.l.; S.n.c."),
        listed(
            """Centro; Stazione; Duomo; Porta Nuova; Lungomare; Centro Commerciale; Aeroporto; Mercato; Città Alta;
            Navigli"""
        ),
    ),
    "NL": Brands(
        listed(
            """De Vries; Van den Berg; Bakker; Jansen; Visser; De Boer; Mulder; Van Dijk; Hoekstra; De Molen; Oranje;
            Tulp; De Zwaan; Noordzee; IJssel; Zilvermeeuw; Koning; Vermeer; Coöperatie Ons Dorp; De Klomp"""
        ),
        listed(
            """Bakkerij; Boekhandel; Apotheek; Kaashandel; Schoenen; Optiek; Meubelen; Slagerij; Drogisterij; Fietsen;
            Bloemen; IJzerwaren; Supermarkt; Speelgoed; Tuincentrum; Elektro"""
        ),
        _TRADE_FIRST,
        listed("{stem} Holding; {stem} Groep; {stem} Beheer"),
        listed("B.V.; N.V.; V.O.F."),
        listed("Centrum; Station; Markt; Noord; Zuid; Haven; Winkelhof; Oude Stad; Plein; Boulevard"),
    ),
    "SE": Brands(
        listed(
            """Lindström; Bergström; Sjöberg; Åkesson; Öhman; Nyström; Hallberg; Ekholm; Älgen; Norrsken; Björken;
            Tre Kronor; Hjorten; Mälaren; Östersjön; Fjäll; Blåklint; Svalan; Göta; Nilsson"""
        ),
        listed(
            """Bageri; Bokhandel; Apotek; Järnhandel; Skor; Optik; Möbler; Livs; Delikatesser; Cykel; Blommor;
            Leksaker; Kaffe; Sport; Färg; Konditori"""
        ),
        listed("{stem}s {trade}; {stem}s {trade}; {trade} {stem}; {stem} & {other}; {stem} & Söner {trade}"),
        listed("{stem} Holding; {stem}gruppen; {stem} Invest"),
        listed("AB; HB; KB"),
        listed("Centrum; Stortorget; Resecentrum; Köpcentrum; Norra; Södra; Hamnen; Gallerian; Gamla Stan; Väst"),
    ),
    "PL": Brands(
        listed(
            """Kowalski; Nowak; Wiśniewski; Zieliński; Wójcik; Dąbrowski; Jabłoński; Pod Lipą; Bałtyk; Żubr;
            Słoneczko; Złoty Kłos; Tatry; Wisła; Łabędź; Trzy Korony; Mazury; Jaskółka; Sokół; Krakus; Świerk"""
        ),
        listed(
            """Piekarnia; Księgarnia; Apteka; Delikatesy; Obuwie; Optyk; Meble; Masarnia; Drogeria; Rowery;
            Kwiaciarnia; Zabawki; Ogród; Cukiernia; Sklep; Elektro"""
        ),
        _TRADE_FIRST,
        listed("Grupa {stem}; {stem} Holding; {stem} Inwestycje"),
        listed("sp. z o.o.; S.A.; sp. j."),
        listed("Centrum; Rynek; Dworzec; Galeria; Stare Miasto; Północ; Osiedle; Śródmieście; Lotnisko; Park Handlowy"),
    ),
    "TR": Brands(
        listed(
            """Yıldız; Güneş; Çınar; Öztürk; Şahin; Kılıç; Demir; Aydın; Karadeniz; Boğaziçi; Anadolu; Zümrüt; Altın;
            Papatya; Lâle; Kaplan; Doğan; Çelik; Ege; Uludağ; Erciyes; Işık"""
        ),
        listed(
            """Market; Eczanesi; Kitabevi; Fırını; Ayakkabı; Optik; Mobilya; Kasabı; Kırtasiye; Kuyumculuk; Züccaciye;
            Oyuncak; Elektronik; Giyim; Pastanesi; Kuruyemiş"""
        ),
        listed("{stem} {trade}; {stem} {trade}; {stem} {trade}; {stem} & {other} {trade}; Yeni {stem} {trade}"),
        listed("{stem} Holding; {stem} Grubu; {stem} Yatırım"),
        listed("A.Ş.; Ltd. Şti."),
        listed("Merkez; Çarşı; AVM; İstasyon; Sahil; Meydan; Havalimanı; Yeni Mahalle; Kuzey; Güney; Pazar"),
    ),
    "JP": Brands(
        listed(
            """さくら; ひかり; みどり; あさひ; 富士見; 山田; 田中; 鈴木; 佐藤; 高橋; 松本; 小林; 渡辺; 中村; 丸三;
            大黒; つばめ; すみれ; 若葉; 平和; ことぶき; 北斗; 青空; 日の出"""
        ),
        listed("商店; 書店; 薬局; 酒店; 青果; 電器; 家具; 靴店; 眼鏡; 精肉店; 製菓; 文具; 生花店; 呉服店; 時計店"),
        listed("{stem}{trade}; {stem}{trade}; {stem}{trade}; {stem}{other}{trade}"),
        listed("{stem}ホールディングス; {stem}グループ"),
        listed("株式会社; 有限会社"),
        listed("本店; 駅前店; 中央店; 東口店; 西口店; 空港店; 南店; 北店; 大通り店; 商店街店"),
    ),
}
